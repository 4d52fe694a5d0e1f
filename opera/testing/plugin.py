"""The plug-in for pytest: load it with `-p opera.testing.plugin`, or from a project's topmost conftest."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from . import hooks, targets
from .fixtures import ChosenValue, FixtureCache, ParameterColumn, is_disabled, kind_of_fixture, part_of_row
from .internals import functions_of, parameters_of, widest_user

TARGET = "target"
_OURS = object()


class UnknownTarget(pytest.PytestWarning):
    """A decorator names a kind of targets that does not exist."""


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Tells pytest of the hooks that a project's conftest can implement."""
    pluginmanager.add_hookspecs(hooks)


def pytest_configure(config: pytest.Config) -> None:
    """Registers the marks of the decorators."""
    config.addinivalue_line("markers", f"{targets.EXCLUDED}(*targets): leave the test out for these targets")
    config.addinivalue_line("markers", f"{targets.FAILING}(*targets, reason, raises, strict): expect the test to fail for these targets")
    config.addinivalue_line("markers", f"{targets.ONLY}(*targets): run the test for exactly these targets")
    is_disabled()  # a malformed variable is the user's error, not that of every test
    targets.begin(config)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Forgets the configuration of the session that ends."""
    targets.end(config)


target = pytest.fixture(name=TARGET, scope="session")(ChosenValue(_OURS))
"""Each chosen target in turn."""


@pytest.fixture
def dev(request: pytest.FixtureRequest, target: targets.Target) -> object:
    """The device of the test's target."""
    return targets.device_of(request.node.ihook, target)


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Parametrises a test by the targets and by the groups of parameters that it takes."""
    definition = metafunc.definition
    explicit = _explicit(definition)
    groups: dict[int, list[tuple[str, ParameterColumn]]] = {}
    for name in metafunc.fixturenames:
        if name in explicit:
            continue
        functions = functions_of(definition, name)
        kind = kind_of_fixture(functions[-1]) if functions else None
        if isinstance(kind, ParameterColumn):
            groups.setdefault(id(kind.group), []).append((name, kind))
        elif kind is _OURS:
            try:
                chosen = _targets_of(definition)
            except pytest.UsageError as error:
                pytest.fail(str(error), pytrace=False)
            scope = widest_user(definition, metafunc.fixturenames, [name])
            metafunc.parametrize(name, chosen, indirect=True, ids=list(map(targets.name_of, chosen)), scope=scope)
    for columns in groups.values():
        group = columns[0][1].group
        names = [name for name, _ in columns]
        rows = [part_of_row(row, [column.index for _, column in columns]) for row in group.rows]
        metafunc.parametrize(names, rows, indirect=True, ids=group.ids, scope=widest_user(definition, metafunc.fixturenames, names))


def _explicit(node: pytest.Function) -> set[str]:
    """Names that `pytest.mark.parametrize` gives values to."""
    found: set[str] = set()
    for mark in node.iter_markers("parametrize"):
        names = mark.args[0] if mark.args else mark.kwargs.get("argnames", "")
        found.update(each.strip() for each in (names.split(",") if isinstance(names, str) else names))
    return found


def _targets_of(node: pytest.Function) -> list[targets.Target]:
    """The targets of a test that takes the plug-in's `target`; warns of kinds in its decorators that do not exist."""
    only = node.get_closest_marker(targets.ONLY)
    chosen = list(only.args) if only is not None else targets.chosen(node.config, node.ihook)
    kinds = targets.kinds_of(node.config, node.ihook)
    for mark in (*node.iter_markers(targets.EXCLUDED), *node.iter_markers(targets.FAILING)):
        for each in mark.args:
            if kinds and targets.kind_of(each) not in kinds:
                node.warn(UnknownTarget(f"{mark.name} names {targets.name_of(each)!r}{targets.suggestion(targets.kind_of(each), kinds)}"))
    return chosen


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Adds to each test what its target needs, takes out what is excluded, and hides fixtures from module scope."""
    items[:] = [item for item in items if _prepared(item)]
    modules = {id(item.module): item.module for item in items if isinstance(item, pytest.Function)}
    for module in modules.values():
        for name, value in list(vars(module).items()):
            if isinstance(kind_of_fixture(value), (ParameterColumn, FixtureCache)):
                delattr(module, name)


def _prepared(item: pytest.Item) -> bool:
    """Marks *item* as its target demands; False where it is excluded."""
    values = parameters_of(item)
    if TARGET not in values:
        return True
    functions = functions_of(item, TARGET)
    if not functions or kind_of_fixture(functions[-1]) is not _OURS:
        return True
    value = values[TARGET]
    kind = targets.kind_of(value)
    if any(targets.kind_of(each) == kind for mark in item.iter_markers(targets.EXCLUDED) for each in mark.args):
        return False
    for each in targets.marks_of(item.ihook, targets.single(value)):
        item.add_marker(each)
    reason = targets.requirement_of(item.ihook, targets.single(value))
    if reason is not None:
        item.add_marker(pytest.mark.skip(reason=reason))
    for mark in item.iter_markers(targets.FAILING):
        if any(targets.kind_of(each) == kind for each in mark.args):
            settings: dict[str, Any] = {name: setting for name, setting in mark.kwargs.items() if setting is not None}
            item.add_marker(pytest.mark.xfail.with_args(**{"reason": f"known to fail on {kind}", **settings}))
    return True


class _Users:
    """The tests that still need each cached fixture."""

    def __init__(self, items: list[pytest.Item], *, spread: bool) -> None:
        self._spread = spread
        self._caches = {item.nodeid: _caches_of(item) for item in items}
        self._left: dict[int, set[str]] = {}
        self._all: dict[int, FixtureCache] = {}
        for nodeid, caches in self._caches.items():
            for cache in caches:
                self._all[id(cache)] = cache
                self._left.setdefault(id(cache), set()).add(nodeid)

    def done(self, item: pytest.Item, following: pytest.Item | None) -> None:
        """Frees what no test to come needs. Where tests are spread over processes, this process learns of the next one only."""
        for key, left in self._left.items():
            left.discard(item.nodeid)
            elsewhere = self._spread and _is_elsewhere(item, following) and key not in self._needed(following)
            if not left or elsewhere:
                self._all[key].values.clear()

    def _needed(self, item: pytest.Item | None) -> set[int]:
        return set() if item is None else {id(cache) for cache in self._caches.get(item.nodeid, ())}

    def clear(self) -> None:
        """Frees all values of cached fixtures."""
        for cache in self._all.values():
            cache.values.clear()


def _is_elsewhere(item: pytest.Item, following: pytest.Item | None) -> bool:
    return following is None or following.path != item.path


def _caches_of(item: pytest.Item) -> list[FixtureCache]:
    names = getattr(item, "fixturenames", ())
    kinds = (kind_of_fixture(function) for name in names for function in functions_of(item, name))
    return [kind for kind in kinds if isinstance(kind, FixtureCache)]


_USERS = pytest.StashKey[_Users]()


def pytest_collection_finish(session: pytest.Session) -> None:
    """Finds the users of each cached fixture, once it is settled which tests run."""
    session.config.stash[_USERS] = _Users(session.items, spread=hasattr(session.config, "workerinput"))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None, object, object]:
    """Frees cached values after their last user, repetitions of the test included."""
    try:
        return (yield)
    finally:
        users = item.config.stash.get(_USERS, None)
        if users is not None:
            users.done(item, nextitem)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Frees everything that an early end of the session has left."""
    users = session.config.stash.get(_USERS, None)
    if users is not None:
        users.clear()
