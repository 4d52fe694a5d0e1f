"""The distribution holds what OPERA needs and nothing else, however it is built; the release workflow's own commands work."""

from __future__ import annotations

import hashlib
import os
import re
import stat
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
import yaml
from checkout import ROOT, copy_of_sources

from opera import __version__

NEEDED = {
    "opera/corpora/operators/onnx.toml",
    "opera/corpora/samples/onnx.jsonl",
    "opera/environments/main.txt",
    "opera/facts/arbiters.toml",
    "opera/instrumentation/hosts/opinfo.py",
    "opera/py.typed",
    "opera/store/schema.sql",
    "opera/extensions/generators/corpora/pytorch.toml",
    "opera/extensions/suites/templates/opera_suite.py.j2",
    "opera/extensions/findings/templates/tvm.md.j2",
    "opera/templates/page/report.css",
    "opera/templates/page/report.html.j2",
    "opera/templates/reproducers/tvm_onnx.py.j2",
}
"""One file of each kind of data, under the name that the code reads."""


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_of_sources(tmp_path_factory.mktemp("sources"))


def build(sources: Path, output: Path, *what: str) -> None:
    command = [sys.executable, "-m", "build", "--no-isolation", *what, "--outdir", str(output), str(sources)]
    subprocess.run(command, check=True, capture_output=True)


@pytest.fixture(scope="module")
def built(sources: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source archive, and the wheel that is built from it."""
    output = tmp_path_factory.mktemp("dist")
    build(sources, output)
    return output


def contents(wheel: Path) -> dict[str, str]:
    """Hashes of a wheel's files by their names, without the list of these hashes."""
    with zipfile.ZipFile(wheel) as opened:
        assert not any(stat.S_ISLNK(entry.external_attr >> 16) for entry in opened.infolist())
        names = [name for name in opened.namelist() if not name.endswith("/RECORD")]
        return {name: hashlib.sha256(opened.read(name)).hexdigest() for name in names}


def test_the_wheel_has_the_files_of_the_package_and_no_others(sources: Path, built: Path) -> None:
    package = sources / "opera"
    walked = (Path(folder, name) for folder, _, names in os.walk(package, followlinks=True) for name in names)
    shipped = (path for path in walked if path.suffix != ".md")
    expected = {path.relative_to(sources).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in shipped}
    [wheel] = built.glob("*.whl")
    found = contents(wheel)
    info = f"opera_dl-{__version__}.dist-info"
    metadata = {f"{info}/{name}" for name in ("METADATA", "WHEEL", "entry_points.txt", "top_level.txt", "licenses/LICENSE")}
    assert {name: each for name, each in found.items() if name not in metadata} == expected
    assert metadata <= found.keys()
    assert found.keys() >= NEEDED


@pytest.mark.slow
def test_the_source_archive_makes_the_wheel_that_the_checkout_makes(sources: Path, built: Path, tmp_path: Path) -> None:
    build(sources, tmp_path, "--wheel")
    [from_checkout], [from_archive] = tmp_path.glob("*.whl"), built.glob("*.whl")
    assert contents(from_checkout) == contents(from_archive)


def test_the_source_archive_has_no_links_and_no_tests(built: Path) -> None:
    [archive] = built.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        members = opened.getmembers()
    folder = f"opera_dl-{__version__}"
    assert {member.name.split("/")[1] for member in members if "/" in member.name} == {
        "LICENSE", "PKG-INFO", "README.md", "opera", "opera_dl.egg-info", "pyproject.toml", "setup.cfg"
    }  # fmt: skip
    assert all(member.name.startswith(folder) and (member.isfile() or member.isdir()) for member in members)


def script_of(step: str) -> str:
    """The commands of a step of the release workflow that builds."""
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8"))
    return next(each["run"] for each in workflow["jobs"]["build"]["steps"] if each.get("name", "").startswith(step))


def test_the_tag_is_compared_with_the_version() -> None:
    script = script_of("Compare")
    outcomes = [
        subprocess.run(
            ["bash", "-ec", script], cwd=ROOT, env={"GITHUB_REF_NAME": tag, "PATH": "/usr/bin:/bin"}, capture_output=True, check=False
        )
        for tag in (f"v{__version__}", "v0.0.0")
    ]
    assert [each.returncode for each in outcomes] == [0, 1]


def test_the_readme_of_the_package_index_has_no_relative_link(tmp_path: Path) -> None:
    readme = tmp_path / "README.md"
    readme.write_bytes((ROOT / "README.md").read_bytes())
    environment = {"GITHUB_REPOSITORY": "owner/opera", "GITHUB_SHA": "0" * 40, "PATH": "/usr/bin:/bin"}
    subprocess.run(["bash", "-ec", script_of("Make the links")], cwd=tmp_path, env=environment, check=True)
    links = re.findall(r"\]\(([^)]+)\)", readme.read_text(encoding="utf-8"))
    assert f"https://github.com/owner/opera/blob/{'0' * 40}/docs/tutorial.md" in links
    assert [link for link in links if not link.startswith("https://")] == []
