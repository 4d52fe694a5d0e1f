"""Signs the artefacts of this user's workers, so OPERA loads no other artefacts.

A model in the cache is code to the library that reads it. Its name is the hash of its content, which a stranger can make to fit; so the
row that names it bears a code that takes this user's key.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import hmac
import os
import stat
import tempfile
from pathlib import Path

_BYTES = 32


def signature(*parts: str) -> str:
    """The code of *parts* under this user's key: 64 hexadecimal digits."""
    message = "\0".join(f"{len(part)}:{part}" for part in parts)
    return hmac.new(_key(), message.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()


def is_signed(code: str, *parts: str) -> bool:
    """Whether *code* is the signature of *parts*."""
    return hmac.compare_digest(code.encode("utf-8", "replace"), signature(*parts).encode())


@functools.cache
def _key() -> bytes:
    """Returns this user's key, and makes it first if it is missing. A key that cannot be kept serves this process alone."""
    try:
        home = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
        path = Path(home) / "opera" / "key"
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not path.exists():
            _make(path)
        return _read(path)
    except (OSError, RuntimeError, ValueError):
        return os.urandom(_BYTES)


def _make(path: Path) -> None:
    """Writes a new key; of two processes that do so at a time, the first one counts."""
    handle, temporary = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(os.urandom(_BYTES))
        with contextlib.suppress(FileExistsError):
            os.link(temporary, path)
    finally:
        os.unlink(temporary)


def _read(path: Path) -> bytes:
    """The key; raises ValueError where another user could have read or written it."""
    with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as file:
        found = os.fstat(file.fileno())
        key = file.read(_BYTES + 1)
    if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o077 or len(key) != _BYTES:
        raise ValueError(f"{path} is no key of this user alone")
    return key
