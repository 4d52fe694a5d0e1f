"""The folder of a suite: OPERA writes and removes its own files only, and never one that a person has changed."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from opera.atomic import replacing
from opera.bounded_json import parsed_json
from opera.console import one_line, quoted
from opera.errors import UserError
from opera.untrusted import Malformed, read_file

MANIFEST = "opera-suite.json"
SCHEMA = "suite/1"
_MOST_BYTES = 64 * 2**20
_NAMED = 3
_NAME = re.compile(r"test_[A-Za-z0-9_]{1,240}")
"""Names become code and files, so a damaged manifest may not hold anything else."""


@dataclass(frozen=True)
class Manifest:
    """The files of an exported suite, and the names of its tests.

    Attributes:
        files: Hash of each file, by its path in the folder.
        names: Name of each test by the id of its finding or instance.
        settings: The options of the export that a later one has to know.
    """

    files: Mapping[str, str] = field(default_factory=dict[str, str])
    names: Mapping[str, str] = field(default_factory=dict[str, str])
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def document(self) -> dict[str, object]:
        """The manifest as JSON."""
        return {"schema": SCHEMA, "settings": dict(self.settings), "names": dict(self.names), "files": dict(self.files)}


def manifest_of(folder: Path) -> Manifest | None:
    """The manifest of the suite in *folder*; None if there is no suite.

    Raises:
        UserError: the manifest is damaged.
    """
    path = folder / MANIFEST
    if not path.exists():
        return None
    try:
        document: Any = parsed_json(read_file(path, _MOST_BYTES))
        if not isinstance(document, dict) or cast("dict[str, Any]", document).get("schema") != SCHEMA:
            raise ValueError(f"its schema is not {SCHEMA}")
        parts = [cast("dict[str, Any]", document).get(name) for name in ("files", "names", "settings")]
        if not all(isinstance(part, dict) for part in parts):
            raise ValueError("a part of it is no object")
        files, names, settings = cast("list[dict[str, Any]]", parts)
        if not all(isinstance(value, str) for part in (files, names) for value in part.values()):
            raise ValueError("a name in it is no text")
        if not all(_NAME.fullmatch(name) for name in names.values()):
            raise ValueError("a name in it is no name of a test")
        if not all(_is_inside(name) for name in files):
            raise ValueError("it names a file outside of the folder")
    except (Malformed, OSError, ValueError) as error:
        why = one_line(str(error), 120)
        raise UserError(f"{path} is damaged ({why}); export to another folder") from error
    return Manifest(files, names, settings)


def _is_inside(name: str) -> bool:
    path = Path(name)
    return bool(name) and "\0" not in name and not path.is_absolute() and ".." not in path.parts


def check_folder(folder: Path) -> None:
    """Refuses a folder that holds other people's files only.

    Raises:
        UserError: it does, or is no folder, or its manifest is damaged.
    """
    if folder.exists() and not folder.is_dir():
        raise UserError(f"{folder} is a file; name a folder")
    if manifest_of(folder) is None and folder.is_dir() and (there := sorted(each.name for each in folder.iterdir())):
        names = ", ".join(one_line(name, 60) for name in there[:_NAMED]) + (", …" if len(there) > _NAMED else "")
        raise UserError(f"{folder} has files that OPERA did not write ({names}); name a new folder, e.g. {quoted(str(folder / 'opera'))}")


def write_folder(folder: Path, files: Mapping[str, bytes], names: Mapping[str, str], settings: Mapping[str, Any]) -> None:
    """Writes the files of a suite, and removes those of an earlier export that it no longer has.

    Args:
        folder: Folder of the suite.
        files: Content by path in the folder.
        names: Name of each test by identity.
        settings: For the manifest.

    Raises:
        UserError: a file that would be written or removed is not as OPERA wrote it; nothing is changed then.
    """
    check_folder(folder)
    before = manifest_of(folder) or Manifest()
    touched = [name for name in dict.fromkeys((*files, *before.files)) if _is_foreign(folder, name, before.files.get(name))]
    changed = [name for name in touched if name not in files or not is_own_file(folder, name) or _content(folder, name) != files[name]]
    if changed:
        listed = ", ".join(one_line(name, 80) for name in changed[:_NAMED]) + (", …" if len(changed) > _NAMED else "")
        raise UserError(f"not OPERA's, or changed since the last export: {listed}; move the files away, or export to another folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileNotFoundError as error:  # /proc and its like say so of every new folder
        raise UserError(f"{folder} cannot be made; name a folder elsewhere") from error
    for name in before.files:
        if name not in files:
            (folder / name).unlink(missing_ok=True)
    for name, data in files.items():
        with replacing(folder / name) as file:
            file.write(data)
    write_manifest(folder, Manifest({name: _hash(data) for name, data in sorted(files.items())}, dict(sorted(names.items())), settings))
    for name in before.files:
        parent = (folder / name).parent
        if parent != folder and parent.is_dir() and not any(parent.iterdir()):
            parent.rmdir()


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Writes *manifest* into the folder of its suite."""
    with replacing(folder / MANIFEST) as file:
        file.write((json.dumps(manifest.document(), indent=1) + "\n").encode())


def with_files(manifest: Manifest, folder: Path, names: list[str]) -> Manifest:
    """*manifest* with the files *names* as they are now."""
    files = {**manifest.files, **{name: _hash((folder / name).read_bytes()) for name in names}}
    return Manifest(files, manifest.names, manifest.settings)


def check_own(folder: Path, names: Iterable[str]) -> None:
    """Refuses what stands at *names*, or on the way there, and is no regular file or folder of the suite itself.

    Raises:
        UserError: a name leads through a link, or to something else than a file.
    """
    for name in names:
        path = folder / name
        if any(each.is_symlink() for each in (path, *_folders(folder, name))) or (path.exists() and not path.is_file()):
            raise UserError(f"{one_line(str(path), 200)} is a link, leads through one, or is no file; export the suite again")


def _is_foreign(folder: Path, name: str, known: str | None) -> bool:
    """Whether something stands at *name* in *folder* that is not the file with the hash *known*."""
    path = folder / name
    if not path.exists() and not path.is_symlink():
        return any(parent.is_symlink() for parent in _folders(folder, name))
    return not is_own_file(folder, name) or known is None or _hash(_content(folder, name)) != known


def is_own_file(folder: Path, name: str) -> bool:
    """Whether *name* is a regular file in *folder*, and no link leads to it."""
    path = folder / name
    return path.is_file() and not any(each.is_symlink() for each in (path, *_folders(folder, name)))


def _folders(folder: Path, name: str) -> list[Path]:
    return [folder / each for each in Path(name).parents[:-1]]


def _content(folder: Path, name: str) -> bytes:
    return (folder / name).read_bytes()


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
