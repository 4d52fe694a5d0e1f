"""A file is replaced whole or not at all, and keeps its permissions."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from opera.atomic import replacing


def test_a_replaced_file_keeps_its_permissions(tmp_path: Path):
    path = tmp_path / "private"
    path.write_bytes(b"old")
    path.chmod(0o600)
    with replacing(path) as file:
        file.write(b"new")
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_new_file_gets_the_permissions_that_the_user_gives_to_new_files(tmp_path: Path):
    earlier = os.umask(0o027)
    try:
        with replacing(tmp_path / "folder" / "new") as file:
            file.write(b"new")
    finally:
        os.umask(earlier)
    assert (tmp_path / "folder" / "new").stat().st_mode & 0o777 == 0o640


def test_a_link_is_replaced_and_what_it_leads_to_stays(tmp_path: Path):
    target = tmp_path / "target"
    target.write_bytes(b"kept")
    target.chmod(0o600)
    link = tmp_path / "link"
    link.symlink_to(target)
    with replacing(link) as file:
        file.write(b"new")
    assert not link.is_symlink()
    assert link.read_bytes() == b"new"
    assert link.stat().st_mode & 0o777 != 0o777
    assert target.read_bytes() == b"kept"


def test_a_block_that_fails_leaves_the_file_and_nothing_beside_it(tmp_path: Path):
    path = tmp_path / "kept"
    path.write_bytes(b"old")
    with pytest.raises(TypeError), replacing(path) as file:
        file.writelines([b"ne", "w"])
    assert path.read_bytes() == b"old"
    assert [each.name for each in tmp_path.iterdir()] == ["kept"]
