"""The files that welcome a contributor are well formed, and name commands, targets and paths that exist."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from opera import __version__

ROOT = Path(__file__).parents[2]
TEMPLATES = sorted(path for path in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml") if path.name != "config.yml")
TARGETS = set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


def parsed(path: str | Path) -> Any:
    return yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))


def test_the_workflow_sets_up_and_tests_as_a_person_does() -> None:
    job = parsed(".github/workflows/test.yml")["jobs"]["test"]
    assert [step["run"] for step in job["steps"] if "run" in step] == ["make setup", "make test", "make demo RECORD=demo.jsonl"]
    assert job["timeout-minutes"] > 0
    python = next(step["with"] for step in job["steps"] if "python-version" in step.get("with", {}))
    assert python["python-version"] == "3.11"
    for path in python["cache-dependency-path"].split():
        assert (ROOT / path).is_file()


def test_each_hook_runs_a_tool_of_the_environment() -> None:
    hooks = [hook for repository in parsed(".pre-commit-config.yaml")["repos"] for hook in repository["hooks"]]
    development = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]["dev"]
    tools = {hook["entry"].split()[0].removeprefix(".venv/bin/") for hook in hooks}
    assert tools - {"python"} == {"ruff", "pyrefly"} <= set(development)
    scripts = [word for hook in hooks for word in hook["entry"].split() if word.endswith(".py")]
    assert scripts
    assert all((ROOT / script).is_file() for script in scripts)


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_an_issue_form_asks_each_question_once(path: Path) -> None:
    form = parsed(path)
    assert form["name"]
    assert form["description"]
    identities = [field["id"] for field in form["body"]]
    assert len(identities) == len(set(identities)) > 0
    assert all(field["attributes"]["label"] for field in form["body"])


def test_there_is_a_form_for_each_kind_of_issue_and_a_way_for_vulnerabilities() -> None:
    assert {path.stem for path in TEMPLATES} == {"false-alarm", "bug-in-opera", "compiler"}
    [link] = parsed(".github/ISSUE_TEMPLATE/config.yml")["contact_links"]
    assert link["url"].startswith("https://")  # the forge takes no other
    assert "SECURITY.md" in link["about"]
    assert (ROOT / "SECURITY.md").is_file()


def test_the_citation_names_this_version() -> None:
    citation = parsed("CITATION.cff")
    assert citation["version"] == __version__
    assert citation["authors"] == [{"name": "The OPERA developers"}]


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", ".github/pull_request_template.md", "docs/tutorial.md"])
def test_each_make_target_of_a_page_exists(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    named = {word for line in re.findall(r"(?:^\$ |`)make ([a-z0-9 -]+)", text, re.MULTILINE) for word in line.split()}
    assert named
    assert named <= TARGETS


def test_each_path_that_contributing_names_exists() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    paths = [each for each in re.findall(r"`([\w./]+/[\w./]*)`", text) if "LIBRARY" not in each and not each.startswith("/")]
    assert len(paths) > 10
    assert [each for each in paths if not (ROOT / each).exists()] == []
