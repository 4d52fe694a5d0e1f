"""Targets: which there are, which are chosen, which can run here, and the decorators that name them."""

from __future__ import annotations

import difflib
import inspect
import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, cast

import pytest

if TYPE_CHECKING:
    from pluggy import HookRelay

F = TypeVar("F", bound=Callable[..., object])
Target = object
"""What a test is run for: a text or a mapping, as a project's conftest says."""

VARIABLES = ("OPERA_TEST_TARGETS", "TVM_TEST_TARGETS")
"""Environment variables that choose targets; the first that is set counts."""
EXCLUDED, FAILING, ONLY = "exclude_targets", "known_failing_targets", "parametrize_targets"
"""Names of the marks that the decorators set."""
_running: list[pytest.Config] = []


def begin(config: pytest.Config) -> None:
    """Makes *config* the one that functions without an argument for it mean."""
    _running.append(config)


def end(config: pytest.Config) -> None:
    """Forgets *config*, so that functions mean the one before."""
    if config in _running:
        _running.remove(config)


def exclude_targets(*targets: Target) -> Callable[[F], F]:
    """Leaves a test out for targets of these kinds; the report does not mention them."""
    return _decorator(EXCLUDED, targets)


def known_failing_targets(
    *targets: Target,
    reason: str | None = None,
    raises: type[BaseException] | tuple[type[BaseException], ...] | None = None,
    strict: bool | None = None,
) -> Callable[[F], F]:
    """Expects a test to fail for targets of these kinds.

    Args:
        targets: Names of kinds, or targets.
        reason: Stands in the report.
        raises: The exceptions that count as the known failure; any without it.
        strict: Whether a test that passes all the same fails; as `xfail_strict` says without it.
    """
    return _decorator(FAILING, targets, reason=reason, raises=raises, strict=strict)


def parametrize_targets(*targets: Target) -> Any:
    """Runs a test for exactly these targets, whatever the environment chooses. Bare, it changes nothing."""
    if len(targets) == 1 and inspect.isroutine(targets[0]):
        return targets[0]
    return _decorator(ONLY, targets)


def _decorator(name: str, targets: tuple[Target, ...], **settings: object) -> Callable[[F], F]:
    if not targets or any(inspect.isroutine(each) or inspect.isclass(each) for each in targets):
        raise TypeError(f"{name} needs the names of targets; write @{name}('llvm')")
    mark: Callable[[F], F] = getattr(pytest.mark, name).with_args(*targets, **settings)
    return mark


def enabled_targets() -> list[tuple[Target, object]]:
    """The chosen targets that can run here, each with its device. For use while pytest runs.

    Raises:
        RuntimeError: the plug-in is not loaded.
    """
    hook = _config().hook
    return [(target, device_of(hook, target)) for target in chosen(_config(), hook) if requirement_of(hook, target) is None]


def device_enabled(target: Target) -> bool:
    """Whether tests of *target*, or of targets of its kind, run here."""
    hook = _config().hook
    return any(kind_of(each) == kind_of(target) and requirement_of(hook, each) is None for each in chosen(_config(), hook))


def requirements(target: Target) -> list[pytest.MarkDecorator]:
    """Marks that skip a test, or one `pytest.param`, where *target* cannot run."""
    reason = requirement_of(_config().hook, target)
    return [] if reason is None else [pytest.mark.skip(reason=reason)]


def main() -> NoReturn:
    """Runs the tests of the calling file, with the arguments of the command line: for `if __name__ == "__main__"`."""
    frame = inspect.currentframe()
    assert frame is not None
    assert frame.f_back is not None
    file = frame.f_back.f_globals["__file__"]
    sys.exit(pytest.main(["-p", f"{__package__}.plugin", str(file), *sys.argv[1:]]))


def _config() -> pytest.Config:
    if not _running:
        raise RuntimeError(f"{__package__} is not loaded; run pytest with -p {__package__}.plugin")
    return _running[-1]


def single(value: object) -> Target:
    """The target in *value*: its first part where a test takes a tuple that begins with the target."""
    return cast("Sequence[Target]", value)[0] if isinstance(value, (tuple, list)) and value else value


def kind_of(target: Target) -> str:
    """The kind of a target: its first word, its key `kind`, or the first word of its text; of a tuple, that of its first part."""
    alone = single(target)
    kind = cast("Mapping[str, object]", alone).get("kind") if isinstance(alone, Mapping) else alone
    words = str(kind).split()
    return words[0] if words else ""


def name_of(target: Target) -> str:
    """How the report names a target."""
    return json.dumps(target, sort_keys=True) if isinstance(target, Mapping) else str(target)


def parse(text: str) -> list[Target]:
    """The targets of an environment variable: separated by semicolons, each a text or a JSON object.

    Raises:
        ValueError: an object is not JSON.
    """
    found: list[Target] = []
    rest = text.strip()
    while rest:
        if rest.startswith("{"):
            target, end_of = json.JSONDecoder().raw_decode(rest)
            rest = rest[end_of:].lstrip()
            if rest and not rest.startswith(";"):
                raise ValueError(f"{rest[:20]!r} after an object")
        else:
            target, _, after = rest.partition(";")
            target, rest = target.strip(), f";{after}" if after else ""
        if target:
            found.append(target)
        rest = rest[1:].strip()
    return found


def kinds_of(config: pytest.Config, hook: HookRelay) -> list[str]:
    """All kinds that targets can have, as the nearest conftest says; empty if it does not say.

    Raises:
        pytest.UsageError: the conftest fails, or gives something else than a list.
    """
    return list(map(kind_of, _listed(hook.pytest_opera_kinds, "pytest_opera_kinds", config=config)))


def marks_of(hook: HookRelay, target: Target) -> list[Any]:
    """The marks of tests of *target*.

    Raises:
        pytest.UsageError: the conftest fails, or gives something else than a list.
    """
    return _listed(hook.pytest_opera_marks, "pytest_opera_marks", target=target)


def _listed(hook: Callable[..., object], name: str, **arguments: object) -> list[Any]:
    """The list that a hook gives; empty without one."""
    found = _asked(hook, name, **arguments)
    if found is None:
        return []
    if isinstance(found, (str, Mapping)) or not isinstance(found, Iterable):
        raise pytest.UsageError(f"{name} gave {found!r}; return a list")
    return list(cast("Iterable[Any]", found))


def chosen(config: pytest.Config, hook: HookRelay) -> list[Target]:
    """The targets to test: those that the environment names, or else those of the nearest conftest.

    Raises:
        pytest.UsageError: the variable is malformed, or names a kind that there is not; or nothing names a target.
    """
    there = _listed(hook.pytest_opera_targets, "pytest_opera_targets", config=config)
    for variable in VARIABLES:
        text = os.environ.get(variable, "").strip()
        if not text:
            continue
        try:
            named = parse(text)
        except ValueError as error:
            raise pytest.UsageError(f"{variable} is malformed: {error}; write e.g. 'llvm;cuda' or '{{\"kind\": \"cuda\"}}'") from error
        kinds = kinds_of(config, hook)
        for each in named:
            if kinds and kind_of(each) not in kinds:
                raise pytest.UsageError(f"{variable} names {name_of(each)!r}, which is no target{suggestion(kind_of(each), kinds)}")
        return named
    if not there:
        raise pytest.UsageError(f"no conftest says what a target is; implement pytest_opera_targets, or set {VARIABLES[0]}")
    return there


def suggestion(kind: str, kinds: Sequence[str]) -> str:
    """What to write in place of an unknown *kind*."""
    close = difflib.get_close_matches(kind, kinds, 1)
    return f" (did you mean {close[0]!r}?)" if close else f"; known are {', '.join(dict.fromkeys(kinds))}"


def requirement_of(hook: HookRelay, target: Target) -> str | None:
    """Why *target* cannot run here; None where it can."""
    reason = _asked(hook.pytest_opera_requirement, "pytest_opera_requirement", target=target)
    return None if reason is None else str(reason)


def device_of(hook: HookRelay, target: Target) -> object:
    """The device of *target*.

    Raises:
        pytest.UsageError: no conftest knows it.
    """
    device = _asked(hook.pytest_opera_device, "pytest_opera_device", target=target)
    if device is None:
        raise pytest.UsageError(f"no conftest says what the device of {name_of(target)!r} is; implement pytest_opera_device")
    return device


def _asked(hook: Callable[..., object], name: str, **arguments: object) -> object:
    try:
        return hook(**arguments)
    except Exception as error:
        raise pytest.UsageError(f"{name} failed: {type(error).__name__}: {error}; correct the conftest that implements it") from error
