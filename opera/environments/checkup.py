"""Runs the canary model on every route of the adapters, and gives the remedy for each route that does not work."""

from __future__ import annotations

import enum
import shlex
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from pathlib import Path

from packaging.requirements import Requirement

from opera.compilers.adapter import Adapter, Route
from opera.compilers.registry import Plugin
from opera.config import Config
from opera.difftest.judge import Judgement, headline
from opera.difftest.messages import to_json
from opera.difftest.protocol import TestState
from opera.difftest.session import canary_fault, canary_tests, products_of
from opera.difftest.specs import compiler_spec, library_spec
from opera.environments.inventory import Inventory, Lack, clashes, inventory, lacks, wanted
from opera.environments.pinned import described, is_required, made_as, needs_of, own_only, requirements_of
from opera.errors import EnvironmentBroken, OperaError
from opera.workers.pool_protocol import Role
from opera.workers.process import Broken, Limits, Lost, Ready
from opera.workers.session import WorkerSession, session
from opera.workers.supervision import supervised

_LONGEST = 300


@dataclass(frozen=True)
class Trouble:
    """Why an environment will not do.

    Attributes:
        state: `absent`, `old` or `new`.
        reason: For a person.
    """

    state: str
    reason: str


def of_lacks(name: str, python: str, found: Sequence[Lack]) -> Trouble:
    """For a compiler whose declared packages are absent, too old or too new."""
    absent = any(lack.installed is None for lack in found)
    state = "absent" if absent else "new" if all(lack.is_too_new for lack in found) else "old"
    what = "; ".join(map(str, found))
    wanted = " ".join(shlex.quote(lack.requirement) for lack in found)
    line = f"`{_shown(python)} -m pip install {'--upgrade ' if state == 'old' else ''}{wanted}`"
    if own_only(name):
        return Trouble(state, f"{what}; {_own(name, python)}")
    return Trouble(state, f"{what}; {line}, or {_own(name, python)}")


def of_broken(name: str, adapter: type[Adapter], held: Inventory, event: Broken | Lost) -> str:
    """For a compiler that is installed and whose worker cannot be set up."""
    if isinstance(event, Lost):
        return of_lost(name, f"does not start ({event.cause}: {event.detail}){_last_line(event.log)}", adapter.packages, held)
    failure = event.failure
    kind = str(failure["type"]).rsplit(".", 1)[-1]
    message = (str(failure["message"]).strip().splitlines() or [""])[0][:_LONGEST]
    frames = failure.get("frames") or [("",)]
    if kind == "RuntimeError" and frames[-1][0] in {each.__module__ for each in adapter.__mro__}:
        return message  # what the adapter itself finds out says what to do
    return of_lost(name, f"is installed and cannot be loaded ({kind}: {message})", adapter.packages, held)


def of_lost(name: str, what: str, packages: Sequence[str], held: Inventory) -> str:
    """For a compiler that is installed and does *what*: says which requirements around it are not met."""
    found = clashes(packages, held)
    if found:
        return f"{name} {what}; in its environment {'; '.join(map(str, found[:3]))}: {_own(name, held.python)}"
    return f"{name} {what}; if something around it is in its way, {_own(name, held.python)}"


def of_absent(name: str, held: Inventory, lack: Lack) -> str:
    """For a library that is not installed, or lacks what computes for it, as Keras does without its backend."""
    pip = f"`{_shown(held.python)} -m pip install"
    if lack.requirement in requirements_of(name):
        return f"the library {name} is not installed; {pip} 'opera-dl[{name}]'` installs it"
    return f"{name} needs {lack.requirement} here, which is not installed; {pip} {lack.requirement}` installs it"


def of_library(name: str, held: Inventory, event: Broken | Lost) -> str:
    """For a library whose worker cannot be set up."""
    advice = f"`{_shown(held.python)} -m pip install 'opera-dl[{name}]'` installs it"
    if described(name):
        advice += f", or {_own(name, held.python)}"
    if isinstance(event, Lost):
        return f"the library {name} does not start ({event.cause}: {event.detail}){_last_line(event.log)}; {advice}"
    failure = event.failure
    message = f"{str(failure['type']).rsplit('.', 1)[-1]}: {(str(failure['message']).strip().splitlines() or [''])[0][:_LONGEST]}"
    return f"the library {name} cannot be used here: {message}; {advice}"


def _own(name: str, python: str) -> str:
    """The advice to make a separate environment; if the subject already has one, the advice to make it again."""
    needs = needs_of(name)
    besides = f"; it needs {needs}" if needs else ""
    if made_as(Path(python).parent.parent) is not None:
        return f"`opera env create {name} --again` creates its environment again{besides}"
    return f"`opera env create {name}` gives it a separate environment{besides}"


def _last_line(log: str) -> str:
    lines = log.strip().splitlines()
    return f" {lines[-1][:200]}" if lines else ""


def _shown(python: str) -> str:
    """The path of an interpreter, relative where it lies below the current folder."""
    path = Path(python)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else python


_SEED = 0
_NAME = "canary"
_LIMITS = Limits(stage=120.0, start=180.0)

Environment = tuple[tuple[str, str], ...]
_LibraryKey = tuple[str, Environment]
_CompilerKey = tuple[Plugin, type[Adapter], Environment]
_Artefact = tuple[str | None, bool]
"""A kind of artefact, and whether its model is ill-typed."""
_PLAIN: _Artefact = (None, False)


class State(enum.Enum):
    """The state of a check."""

    PASS = "pass"
    INSTALLED = "installed"
    """Its packages are there; no canary ran."""
    ABSENT = "absent"
    """Something that it needs is not installed."""
    OLD = "old"
    """Something that it needs is installed in a version that is too old."""
    NEW = "new"
    """All that is wrong are versions that are too new."""
    SKIPPED = "skipped"
    """The library that makes its models is not installed, and may not be wanted."""
    BROKEN = "broken"


@dataclass(frozen=True)
class Check:
    """The result of the check of one route of an adapter, or of one library.

    Attributes:
        name: Name of the adapter or the library.
        route: None for a library, and for an adapter that cannot be imported.
        state: Whether it works.
        reason: Why it does not, and what to do; empty where it does.
        version: Version of the compiler or the library.
        settings: Further versions and pinned settings.
        python: The interpreter of its worker.
        imported: The file that the worker has imported the compiler from: an own build is told by it.
        library_at_fault: Whether the library, and not the compiler, is what does not work.
        remarks: What its workers say of themselves, each with the name of the library or the compiler.
    """

    name: str
    route: Route | None
    state: State
    reason: str = ""
    version: str = ""
    settings: Mapping[str, str] = field(default_factory=dict[str, str])
    python: str = ""
    imported: str = ""
    library_at_fault: bool = False
    remarks: tuple[tuple[str, str], ...] = ()

    @property
    def ok(self) -> bool:
        """Whether nothing is known to be wrong."""
        return self.state in (State.PASS, State.INSTALLED)


@dataclass(frozen=True)
class _Library:
    """The result of the materialiser of one library in one environment."""

    python: str
    trouble: str = ""
    versions: Mapping[str, str] = field(default_factory=dict[str, str])
    made: Mapping[_Artefact, tuple[TestState, ...] | str] = field(default_factory=dict[_Artefact, tuple[TestState, ...] | str])
    """By artefact: the canaries' tests after their models were made, or the reason for failure."""
    remarks: tuple[tuple[str, str], ...] = ()
    """What its worker says of itself, each with its name."""


class Checkup:
    """Checks adapters and libraries. Nothing is left running, whatever the compilers do.

    Args:
        config: Says which interpreter each lives in.
        folder: An empty folder for caches and logs.
        jobs: Workers at a time.
        tell: Takes lines that say how it goes.
        found: Takes each check as soon as it is done.
    """

    def __init__(
        self, config: Config, folder: Path, jobs: int, tell: Callable[[str], None], found: Callable[[Check], None] = lambda _: None
    ) -> None:
        self._config = config
        self._cache = folder / "cache"
        self._scratch = folder / "scratch"
        self._scratch.mkdir()
        self._jobs = jobs
        self._tell = tell
        self._found = found
        self._stop = threading.Event()

    def libraries(self, names: Sequence[str]) -> list[Check]:
        """One check per library, in the order of *names*: is it there, and does it get the canary right?"""
        found, _ = self._all({(name, ()): {_PLAIN} for name in names}, {})
        return [self._library_check(name, library) for (name, _), library in found.items()]

    def _library_check(self, name: str, library: _Library) -> Check:
        made = library.made.get(_PLAIN, "")
        reason = library.trouble or (made if isinstance(made, str) else "")
        version, rest = _split(library.versions)
        state = State.BROKEN if reason else State.PASS
        return Check(name, None, state, reason, version, rest, library.python, "", bool(reason), library.remarks)

    def adapters(self, chosen: Sequence[Plugin]) -> list[Check]:
        """One check per route of each adapter, in their order; one for an adapter that cannot be imported."""
        installed = self.installed(chosen)
        checks = {(check.name, check.route): check for check in installed if check.state is not State.INSTALLED}
        for check in checks.values():
            self._found(check)
        groups: dict[_CompilerKey, list[Route]] = {}
        kinds: dict[_LibraryKey, set[_Artefact]] = {}
        for each in chosen:
            if (each.name, None) in checks:
                continue
            adapter = each.load()
            for route in adapter.routes:
                if (each.name, route) in checks:
                    continue
                groups.setdefault((each, adapter, route.environment), []).append(route)
                kinds.setdefault((route.library, route.environment), set()).add((route.artefact, route.rejects))
        _, found = self._all(kinds, groups)
        checks.update({(check.name, check.route): check for check in found})
        return [checks[check.name, check.route] for check in installed]

    def installed(self, chosen: Sequence[Plugin]) -> list[Check]:
        """What `adapters` finds out without a worker: which packages are there, and their versions."""
        return [check for each in chosen for check in self._installed(each)]

    def _installed(self, each: Plugin) -> list[Check]:
        try:
            adapter = each.load()
            held = self._held(each)
        except OperaError as error:
            return [Check(each.name, None, State.BROKEN, str(error))]
        if not adapter.routes:
            return [Check(each.name, None, State.ABSENT, "; ".join(adapter.remarks))]
        found = [] if self._config.search_first(each.name) else lacks(adapter.packages, held)  # a build may not name its version
        trouble = of_lacks(each.name, held.python, found) if found else Trouble(State.INSTALLED.value, "")
        main = next((held.find(Requirement(text).name) for text in wanted(adapter.packages, held)), None)
        version = main.version if main and not found else ""
        state = State(trouble.state)
        checks = [Check(each.name, route, state, trouble.reason, version, python=held.python) for route in adapter.routes]
        return checks if found else [self._skipped(check) for check in checks]

    def _skipped(self, check: Check) -> Check:
        """*check*, or that its library is not installed."""
        assert check.route is not None
        name = check.route.library
        try:
            wanted = [*requirements_of(name)[:1], *(value for _, value in check.route.environment if is_required(value))]
            held = inventory(self._config.python("library", name))
        except OperaError:  # which the worker says
            return check
        absent = next((lack for lack in lacks(wanted, held) if lack.installed is None), None)
        if absent is None:
            return check
        return replace(check, state=State.SKIPPED, reason=of_absent(name, held, absent), library_at_fault=True)

    def _all(
        self, kinds: Mapping[_LibraryKey, Collection[_Artefact]], groups: Mapping[_CompilerKey, Sequence[Route]]
    ) -> tuple[dict[_LibraryKey, _Library], list[Check]]:
        """The state of each library, and the checks of all routes; those of a group begin once its own libraries are done."""
        with supervised(), ThreadPoolExecutor(self._jobs) as pool:
            try:
                made = {key: pool.submit(self._materialise, key, kinds[key]) for key in kinds}
                found = list[Future[list[Check]]]()
                waiting = dict(groups)
                while True:
                    done = {key: future.result() for key, future in made.items() if future.done()}
                    for key, routes in list(waiting.items()):
                        each, adapter, environment = key
                        if all((route.library, environment) in done for route in routes):
                            libraries = {route.library: done[route.library, environment] for route in routes}
                            found.append(pool.submit(self._compile, each, adapter, routes, libraries))
                            del waiting[key]
                    if len(done) == len(made):
                        return done, [check for future in found for check in future.result()]
                    wait([future for key, future in made.items() if key not in done], return_when=FIRST_COMPLETED)
            except BaseException:
                self._stop.set()
                pool.shutdown(wait=True, cancel_futures=True)
                raise

    def _held(self, each: Plugin) -> Inventory:
        return inventory(self._config.python("compiler", each.name), (*self._config.search_first(each.name), *each.search_path()))

    def _materialise(self, key: _LibraryKey, kinds: Collection[_Artefact]) -> _Library:
        name, environment = key
        python = self._config.setting("library", name, "python").value
        try:
            held = inventory(self._config.python("library", name))
            spec = library_spec(self._config, name, self._cache, dict(environment))
        except OperaError as error:
            return _Library(python, str(error))
        with session(spec, _LIMITS, self._scratch, self._stop) as worker:
            self._tell(f"{_called(name, environment)}: importing ...")
            event = worker.start()
            if not isinstance(event, Ready):
                return _Library(python, of_library(name, held, event))
            made = {kind: self._make(worker, name, kind) for kind in sorted(kinds, key=str)}
            return _Library(python, "", event.info["versions"], made, _remarks(name, event))

    def _make(self, worker: WorkerSession, name: str, wanted: _Artefact) -> tuple[TestState, ...] | str:
        kind, rejects = wanted
        try:
            difftest, tests = canary_tests(Route(name, "", kind, rejects=rejects), name, _SEED)
        except OperaError as error:
            return str(error)
        difftest = replace(difftest, library=Role.LIBRARY_FRESH)  # the worker is asked once, whatever becomes of it
        made: list[TestState] = []
        for test in tests:
            state = difftest.begin(test)
            assert isinstance(state, TestState)
            after = difftest.answered(state, worker.ask(to_json(difftest.ask(state).request)))
            if not isinstance(after, TestState):
                return f"{name} fails on the canary model{f' as {kind}' if kind else ''}: {headline(after.verdict, after.detail, name)}"
            made.append(after)
        return tuple(made)

    def _compile(self, each: Plugin, adapter: type[Adapter], routes: Sequence[Route], libraries: Mapping[str, _Library]) -> list[Check]:
        """The checks of routes with the same environment."""
        checks = list[Check]()
        for check in self._each_check(each, adapter, routes, libraries):
            self._found(check)
            checks.append(check)
        return checks

    def _each_check(
        self, each: Plugin, adapter: type[Adapter], routes: Sequence[Route], libraries: Mapping[str, _Library]
    ) -> Iterator[Check]:
        held = self._held(each)
        ready = list[Route]()
        for route in routes:
            library = libraries[route.library]
            reason = library.trouble or library.made[route.artefact, route.rejects]
            if isinstance(reason, str):
                yield Check(each.name, route, State.BROKEN, reason, python=held.python, library_at_fault=True)
            else:
                ready.append(route)
        yield from self._in_one_worker(each, adapter, ready, libraries, held)

    def _in_one_worker(
        self, each: Plugin, adapter: type[Adapter], routes: Sequence[Route], libraries: Mapping[str, _Library], held: Inventory
    ) -> Iterator[Check]:
        """The checks of routes that share a worker, which is started again for the others when it dies.

        A route that fails together with those of another library is checked again alone, as in a campaign; the second check counts.
        """
        ready, again = list(routes), list[Route]()
        shared = len({route.library for route in routes}) > 1
        while ready:
            names = list(dict.fromkeys(route.library for route in ready))
            spec = compiler_spec(self._config, each, names, self._cache, dict(ready[0].environment))
            with session(spec, _LIMITS, self._scratch, self._stop) as worker:
                self._tell(f"{each.name} on {_called(', '.join(names), ready[0].environment)}: importing ...")
                event = worker.start()
                if not isinstance(event, Ready):
                    if shared:
                        again += ready
                        break
                    reason = of_broken(each.name, adapter, held, event)
                    yield from (Check(each.name, route, State.BROKEN, reason, python=held.python) for route in ready)
                    return
                alive = True
                while ready and alive:
                    route = ready.pop(0)
                    check, alive = self._try(worker, each.name, adapter, route, event, libraries[route.library], held)
                    if shared and not check.ok:
                        again.append(route)
                    else:
                        yield check
        for name in dict.fromkeys(route.library for route in again):
            yield from self._in_one_worker(each, adapter, [route for route in again if route.library == name], libraries, held)

    def _try(
        self, worker: WorkerSession, name: str, adapter: type[Adapter], route: Route, ready: Ready, library: _Library, held: Inventory
    ) -> tuple[Check, bool]:
        self._tell(f"{name}/{route.frontend} by {route.name}: canary ...")
        made = library.made[route.artefact, route.rejects]
        assert not isinstance(made, str)
        difftest, tests = canary_tests(route, f"{name}/{route.frontend}", _SEED)
        imported, judgements = str(ready.info["imported"]), list[Judgement]()
        for test, state in zip(tests, made, strict=True):
            event = worker.ask(to_json(difftest.ask(state).request))
            judgement = difftest.answered(replace(state, worker=Role.COMPILER_FRESH), event)
            if isinstance(judgement, TestState):
                raise EnvironmentBroken(f"files disappear from {self._cache}; check which other program writes there")
            fault = canary_fault(name, adapter.precision, test, judgement)
            if fault is not None:
                reason = of_lost(name, fault, adapter.packages, held)
                return Check(name, route, State.BROKEN, reason, python=held.python, imported=imported), not isinstance(event, Lost)
            judgements.append(judgement)
        version, rest = _split(ready.info["versions"])
        products = {} if (computed := products_of(judgements)) is None else {"products": computed}
        settings = {**rest, **products, **{f"library {key}": value for key, value in library.versions.items()}}
        remarks = (*library.remarks, *_remarks(name, ready))
        return Check(name, route, State.PASS, "", version, settings, held.python, imported, remarks=remarks), True


def _called(library: str, environment: Environment) -> str:
    return f"{library} ({', '.join(f'{name}={value}' for name, value in environment)})" if environment else library


def _remarks(name: str, ready: Ready) -> tuple[tuple[str, str], ...]:
    return tuple((name, remark) for remark in ready.info["remarks"])


def _split(versions: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """The first entry, which is the version of the thing itself, and the rest."""
    (_, first), *rest = versions.items() or [("", "")]
    return first, dict(rest)
