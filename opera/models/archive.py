"""A folder as one file, for artefacts that compilers load from a folder (a SavedModel). The same files give the same bytes."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path, PurePosixPath

_EPOCH = (1980, 1, 1, 0, 0, 0)


def pack_folder(folder: Path, without: frozenset[str] = frozenset()) -> bytes:
    """All files of *folder* as an archive.

    Args:
        folder: What to pack; empty folders inside are left out.
        without: Paths in it, with `/` between their parts, that are left out.
    """
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(each for each in folder.rglob("*") if each.is_file()):
            name = file.relative_to(folder).as_posix()
            if name not in without:
                archive.writestr(zipfile.ZipInfo(name, _EPOCH), file.read_bytes(), zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def unpack_folder(data: bytes, folder: Path) -> None:
    """Inverse of `pack_folder`: writes the files into *folder*.

    Raises:
        ValueError: *data* is no archive, or would write outside of *folder*.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = archive.namelist()
            if any(PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts for name in names):
                raise ValueError("the archive has a file outside of its folder")
            archive.extractall(folder)
    except zipfile.BadZipFile as error:
        raise ValueError("no archive of a folder") from error
