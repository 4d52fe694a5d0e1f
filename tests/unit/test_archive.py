"""Folders as one file."""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path

import pytest

from opera.models.archive import pack_folder, unpack_folder


def folder(path: Path, names: list[str]) -> Path:
    for name in names:
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(name)
    return path


def test_a_folder_comes_back_as_it_was(tmp_path: Path) -> None:
    unpack_folder(pack_folder(folder(tmp_path / "one", ["a", "b/c", "fingerprint"]), frozenset({"fingerprint"})), tmp_path / "other")
    assert {
        each.relative_to(tmp_path / "other").as_posix(): each.read_text() for each in (tmp_path / "other").rglob("*") if each.is_file()
    } == {
        "a": "a",
        "b/c": "b/c",
    }


def test_the_same_files_give_the_same_bytes_whenever_they_were_written(tmp_path: Path) -> None:
    one = folder(tmp_path / "one", ["a", "b/c"])
    other = folder(tmp_path / "other", ["b/c", "a"])
    os.utime(other / "a", (10, 10))
    assert pack_folder(one) == pack_folder(other)


def test_an_archive_that_leads_outside_is_refused(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("../escaped", "x")
    with pytest.raises(ValueError, match="outside"):
        unpack_folder(buffer.getvalue(), tmp_path / "inside")
    with pytest.raises(ValueError, match="no archive"):
        unpack_folder(b"something else", tmp_path / "inside")
    assert not (tmp_path / "escaped").exists()
