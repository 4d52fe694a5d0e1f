"""No byte outside of a suite's folder changes, whatever stands in the folder."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from opera.errors import UserError
from opera.extensions.suites.folder import MANIFEST, SCHEMA, write_folder
from opera.extensions.suites.refresh import refresh

MODULE = 'import pytest\n\n\n@pytest.mark.xfail(strict=True, raises=AssertionError, reason="known")\ndef test_a(check_fake):\n    pass\n'
JUNIT = '<testsuite><testcase name="test_a"/></testsuite>'
NAMES = ("green/test_m.py", "burn_down/test_m.py", "burn_down/deep/test_m.py", "data/test_a.npz", "opera_suite.py", "other/x.py")
KINDS = ("file", "file link", "folder link", "hard link", "pipe", "folder", "nothing")


def planted(folder: Path, outside: Path, name: str, kind: str) -> None:
    """Puts something at *name*: a file, or what leads to one outside."""
    path = folder / name
    target = outside / Path(name).name
    if kind == "folder link":
        if path.parent != folder and not path.parent.exists():
            path.parent.parent.mkdir(parents=True, exist_ok=True)
            path.parent.symlink_to(outside)
        return
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.resolve().is_relative_to(outside.resolve()):
            return
        if kind == "file":
            path.write_text(MODULE)
        elif kind == "file link":
            path.symlink_to(target)
        elif kind == "hard link":
            os.link(target, path)
        elif kind == "pipe":
            os.mkfifo(path)
        elif kind == "folder":
            path.mkdir()


def content(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {str(each.relative_to(folder)): (each.read_bytes(), each.stat().st_mode) for each in folder.rglob("*") if each.is_file()}


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(
    kinds=st.lists(st.sampled_from(KINDS), min_size=len(NAMES), max_size=len(NAMES)),
    listed=st.lists(st.sampled_from(NAMES), unique=True),
    right=st.booleans(),
    exports=st.booleans(),
)
def test_no_byte_outside_of_the_folder_changes(kinds: list[str], listed: list[str], right: bool, exports: bool) -> None:
    import hashlib

    place = Path(tempfile.mkdtemp())
    try:
        outside, folder = place / "outside", place / "suite"
        outside.mkdir()
        folder.mkdir()
        for name in {Path(each).name for each in NAMES}:
            (outside / name).write_text(MODULE)
        for name, kind in zip(NAMES, kinds, strict=True):
            planted(folder, outside, name, kind)
        digest = hashlib.sha256(MODULE.encode()).hexdigest() if right else "0" * 64
        document = {
            "schema": SCHEMA,
            "settings": {"style": "plain", "line_length": 88},
            "names": {"0" * 16: "test_a"},
            "files": dict.fromkeys(listed, digest),
        }
        (folder / MANIFEST).write_text(json.dumps(document))
        (place / "junit.xml").write_text(JUNIT)
        before = content(outside)
        with contextlib.suppress(UserError):
            if exports:
                write_folder(folder, dict.fromkeys(NAMES[:3], b"new"), {}, {})
            else:
                refresh(folder, [place / "junit.xml"])
        assert content(outside) == before
    finally:
        shutil.rmtree(place)


def test_a_linked_folder_of_a_suite_is_refused(tmp_path: Path) -> None:
    outside, folder = tmp_path / "outside", tmp_path / "suite"
    outside.mkdir()
    folder.mkdir()
    (outside / "test_m.py").write_text(MODULE)
    (folder / "burn_down").symlink_to(outside)
    settings_of = {"style": "plain", "line_length": 88}
    document = {"schema": SCHEMA, "settings": settings_of, "names": {"0" * 16: "test_a"}, "files": {"burn_down/test_m.py": "0" * 64}}
    (folder / MANIFEST).write_text(json.dumps(document))
    (tmp_path / "junit.xml").write_text(JUNIT)
    with pytest.raises(UserError, match="leads through one"):
        refresh(folder, [tmp_path / "junit.xml"])
    assert (outside / "test_m.py").read_text() == MODULE


def test_a_module_that_a_person_has_formatted_is_refreshed(tmp_path: Path) -> None:
    write_folder(tmp_path / "suite", {"burn_down/test_m.py": MODULE.encode()}, {"0" * 16: "test_a"}, {"style": "plain", "line_length": 88})
    module = tmp_path / "suite" / "burn_down" / "test_m.py"
    module.write_text(f"# formatted\n{MODULE}")
    (tmp_path / "junit.xml").write_text(JUNIT)
    assert refresh(tmp_path / "suite", [tmp_path / "junit.xml"]).removed == ("test_a",)
    assert "xfail" not in module.read_text()
