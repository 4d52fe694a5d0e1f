"""The three kinds of error, and the exit codes that every command keeps.

The user can correct a `UserError`; an `EnvironmentBroken` needs a change on the machine. Both print one message without a traceback.
Every other exception is a bug of OPERA: traceback, exit code 70.
"""

from __future__ import annotations

import enum


class Exit(enum.IntEnum):
    """Exit codes of every command."""

    CLEAN = 0
    NEW_FINDINGS = 1
    USER_ERROR = 2
    BROKEN_ENVIRONMENT = 3
    NOTHING_SELECTED = 4
    INTERNAL_ERROR = 70
    INTERRUPTED = 130


class OperaError(Exception):
    """Base of the errors that are shown to the user as a message: what is wrong, then what to do about it."""

    exit_code = Exit.USER_ERROR


class UserError(OperaError):
    """Wrong input: an unknown name, a file that is not what it should be, an impossible combination."""


class EnvironmentBroken(OperaError):
    """Something the command needs is absent or broken on this machine. The message says what to install or free."""

    exit_code = Exit.BROKEN_ENVIRONMENT


class NothingSelected(OperaError):
    """The selection is empty. Running zero tests is never a success."""

    exit_code = Exit.NOTHING_SELECTED
