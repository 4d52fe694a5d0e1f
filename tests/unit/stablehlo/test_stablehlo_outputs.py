"""`opera export stablehlo DIR` replaces nothing that it did not make, wherever a link in DIR leads."""

from __future__ import annotations

from pathlib import Path

import pytest

from opera.errors import UserError
from opera.extensions.stablehlo.cli import export


def test_a_link_in_the_folder_is_not_followed_and_nothing_is_written(tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("mine")
    folder = tmp_path / "programs"
    folder.mkdir()
    (folder / "b.mlir").symlink_to(tmp_path / "victim")
    with pytest.raises(UserError, match="is a link"):
        export._write(folder, {"a.mlir": "module {}", "b.mlir": "module {}"})
    assert (tmp_path / "victim").read_text() == "mine"
    assert sorted(each.name for each in folder.iterdir()) == ["b.mlir"]


def test_the_folders_of_a_workspace_are_refused(tmp_path: Path) -> None:
    (tmp_path / "opera.db").touch()
    with pytest.raises(UserError, match="belongs to the workspace"):
        export._write(tmp_path / "blobs", {"a.mlir": "module {}"})
    export._write(tmp_path / "programs", {"a.mlir": "module {}"})
    assert (tmp_path / "programs" / "a.mlir").read_text() == "module {}"
