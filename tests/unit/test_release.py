"""The changelog, the release workflow and the container describe the release that the sources are."""

from __future__ import annotations

import re
import tomllib
from typing import Any

import yaml
from checkout import ROOT, container_context

from opera import __version__

CONTAINERFILE = (ROOT / "Containerfile").read_text(encoding="utf-8")
CONSTRAINTS = (ROOT / "constraints.txt").read_text(encoding="utf-8")
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
WORKFLOW: dict[Any, Any] = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8"))
JOBS: dict[str, dict[str, Any]] = WORKFLOW["jobs"]
STEPS = [step for job in JOBS.values() for step in job["steps"]]
VERSION = re.compile(r"^## \[(\S+)\](?: - (\d{4}-\d\d-\d\d))?$", re.MULTILINE)


def step_of(job: str, name: str) -> dict[str, Any]:
    return next(step for step in JOBS[job]["steps"] if step.get("name", "").startswith(name))


def test_the_changelog_has_what_comes_next_and_then_this_version_with_its_date() -> None:
    versions = VERSION.findall((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    assert versions[0] == ("Unreleased", "")
    number, date = versions[1]
    assert number == __version__
    assert date


def test_only_a_tag_publishes_and_only_that_job_may_ask_for_an_identity() -> None:
    assert WORKFLOW["permissions"] == {"contents": "read"}
    assert {name: job["permissions"] for name, job in JOBS.items() if "permissions" in job} == {"publish": {"id-token": "write"}}
    assert JOBS["publish"]["if"] == "github.event_name == 'push' && github.ref_type == 'tag'"
    assert WORKFLOW[True]["push"] == {"tags": ["v*"]}  # YAML 1.1 reads the key `on` as true
    assert [step["uses"] for step in STEPS if "publish" in step.get("uses", "")] == ["pypa/gh-action-pypi-publish@release/v1"]


def test_what_is_published_was_built_checked_and_installed_before() -> None:
    assert JOBS["publish"]["needs"] == "install"
    assert JOBS["install"]["needs"] == "build"
    assert step_of("build", "Check")["run"] == "python -m twine check --strict dist/*"
    assert "scripts/try_installation.py" in step_of("install", "Try")["run"]
    assert not any("continue-on-error" in each for each in (*JOBS.values(), *STEPS))


def test_every_action_has_a_version_and_every_job_a_limit() -> None:
    assert [step["uses"] for step in STEPS if "uses" in step and not re.search(r"@(v\d+|release/v\d+)$", step["uses"])] == []
    assert all(job["timeout-minutes"] > 0 for job in JOBS.values())


def test_every_installation_is_pinned() -> None:
    lines = [line for step in STEPS for line in step.get("run", "").splitlines() if "pip install" in line]
    lines += [line for line in CONTAINERFILE.splitlines() if line.startswith("RUN pip install")]
    assert len(lines) == 3
    assert [line for line in lines if not re.search(r"--constraint \S*constraints\.txt", line)] == []
    assert "\ntorch==2.13.0\n" in CONSTRAINTS


def test_a_compiler_and_its_library_are_extras() -> None:
    compilers = set(EXTRAS["compilers"][0].removeprefix("opera-dl[").removesuffix("]").split(","))
    assert compilers | {"executorch", "tensorrt"} <= EXTRAS.keys()
    shown = re.findall(r"EXTRAS=([\w,]+)", CONTAINERFILE)
    assert len(shown) == 2
    assert {extra for each in shown for extra in each.split(",")} <= EXTRAS.keys()


def test_the_context_of_the_container_has_all_that_the_wheel_is_made_of() -> None:
    links = {link.resolve().relative_to(ROOT).as_posix() for link in (ROOT / "opera").rglob("*") if link.is_symlink()}
    assert links | {"opera", "pyproject.toml", "README.md", "LICENSE"} == set(container_context())


def test_the_page_of_the_installation_lists_the_extras() -> None:
    page = (ROOT / "docs" / "how-to" / "install.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.*?) \|", page, re.MULTILINE)
    assert {extra for row in rows for extra in re.findall(r"`([\w-]+)`", row)} == EXTRAS.keys() - {"notebooks", "dev", "docs"}
