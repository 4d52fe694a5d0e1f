"""Calls a library's APIs with generated arguments: first such as its constraints allow, then such as break exactly one."""

from __future__ import annotations

import importlib
import random
import time
import warnings
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, Optional, cast

from opera.atomic import read_file
from opera.bounded_json import parsed_json
from opera.extensions.generators.docter.bench import Bench, PreparedCall, described
from opera.extensions.generators.docter.constraints import Facts, TargetApi
from opera.extensions.generators.docter.given import facts_of
from opera.extensions.generators.docter.recipes import CallRecipe
from opera.extensions.generators.docter.search import Search
from opera.extensions.generators.docter.violations import violations
from opera.instrumentation.hosts import arguments
from opera.instrumentation.hosts.limits import Late, alarm, limit_memory
from opera.instrumentation.stream import Stream

BENCHES = {"pytorch": "PyTorchBench", "tensorflow": "TensorFlowBench", "keras": "KerasBench"}


class GenerationBudget(NamedTuple):
    """How much is generated for one API.

    Attributes:
        conform: Conforming calls.
        violate: Violating calls.
        tries: Calls that the search for conforming ones may make.
        seconds: A net against slow APIs: the search of one stops there.
    """

    conform: int
    violate: int
    tries: int
    seconds: float


def main(argv: Sequence[str]) -> None:
    """Writes the recording of one shard."""
    parser = arguments.parser("docter")
    parser.add_argument("--library", default="pytorch", choices=sorted(BENCHES))
    parser.add_argument("--scope", default="functions,methods,modules", help="parts of the library")
    parser.add_argument("--constraints", default="", help="JSON file of constraints, see opera.extensions.generators.constraints")
    parser.add_argument("--conform", type=int, default=30, help="conforming calls per API")
    parser.add_argument("--violate", type=int, default=20, help="violating calls per API")
    parser.add_argument("--tries", type=int, default=600, help="calls per API that the search may make")
    parser.add_argument("--seconds", type=float, default=20.0, help="seconds after which the search of one API ends")
    options = parser.parse_args(argv)
    warnings.simplefilter("ignore")
    filters = arguments.filters(options)
    bench: Bench = getattr(importlib.import_module(f"opera.extensions.generators.docter.{options.library}"), BENCHES[options.library])()
    given = _given(options.constraints)
    budget = GenerationBudget(options.conform, options.violate, options.tries, options.seconds)
    chosen = [name for name in bench.names(options.scope.split(",")) if filters.selected(name) and filters.noise(name) is None]
    with Stream(options.recording, bench.library, bench.version, options.source) as stream, bench.recorder(stream, filters) as recorder:
        for index, name in arguments.select(chosen, options):
            stream.enter(index, name)
            limit_memory()
            if filters.excluded(name):
                stream.drop("excluded", name)
                continue
            _Entry(bench, stream, recorder, options.seed, name).run(given.get(name), budget)


class _Entry:
    """The generation for one API."""

    def __init__(self, bench: Bench, stream: Stream, recorder: Any, seed: int, name: str) -> None:
        self._bench = bench
        self._stream = stream
        self._recorder = recorder
        self._seed = seed
        self._name = name

    def run(self, given: Optional[dict[str, Facts]], budget: GenerationBudget) -> None:
        """Searches, then records conforming and violating calls."""
        began = time.monotonic()
        self._bench.reset(self._seed, self._name)
        api = self._bench.api(self._name, given)
        if api is None:
            return self._give_up("NoSignature", "needs a value that cannot be made")
        until = began + budget.seconds

        def attempt(recipe: CallRecipe) -> Optional[str]:
            if time.monotonic() > until:
                return "out of time"
            try:
                with alarm():
                    PreparedCall(self._bench, api, recipe, 0).run()
            except (Exception, Late) as error:
                return f"{type(error).__name__}: {error}"
            return None

        def conforming(number: int, recipe: CallRecipe) -> None:
            self._record(api, recipe, "conform", number, "")

        found = Search(api, attempt, f"{self._seed}:{self._name}", budget.tries).run(budget.conform, conforming)
        if not found.calls:
            return self._give_up("NoValidCall", found.reason)
        generator = random.Random(f"{self._seed}:{self._name}:violate")
        broken = [item for recipe in found.calls[:5] for item in violations(recipe, generator)]
        generator.shuffle(broken)
        for number, violation in enumerate(broken[: budget.violate]):
            self._record(api, violation.recipe, "violate", number, violation.what)
        print(f"{self._name}: {len(found.calls)} conforming calls in {found.tries} tries, {time.monotonic() - began:.1f} s", flush=True)
        return None

    def _give_up(self, kind: str, reason: str) -> None:
        self._stream.drop(f"no-sample:{kind}", self._name)
        print(f"{self._name}: {kind}: {reason[:200]!r}", flush=True)

    def _record(self, api: TargetApi, recipe: CallRecipe, mode: str, number: int, what: str) -> None:
        test = f"{self._stream.source}::{self._name}::{mode}::{number}"
        self._stream.begin(test)
        try:
            call = PreparedCall(self._bench, api, recipe, zlib.crc32(f"{self._seed}:{test}".encode()))
            call.prepare()
            with alarm(), self._recorder.watching():
                call.run()
        except (Exception, Late) as error:
            print(f"{test}: {what or described(recipe)}: {type(error).__name__}", flush=True)


def _given(path: str) -> dict[str, dict[str, Facts]]:
    """The constraints of the file at *path*, by API and parameter."""
    if not path:
        return {}
    try:
        content = cast(Any, parsed_json(read_file(Path(path))))
        return {name: facts_of(table) for name, table in content["apis"].items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{path} is no file of constraints: {error!r}") from error
