"""Settings that no recorded call has: the recorded calls of a library with other parameters and inputs, alone and in pairs."""

from __future__ import annotations

import importlib
import os
import re
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Optional

from opera.extensions.generators.deeprel.instances import InstanceFile
from opera.extensions.generators.docter.constraints import TargetApi
from opera.extensions.generators.settings.conditions import combinations, conditions
from opera.extensions.generators.settings.kinds import spread, variations
from opera.extensions.generators.settings.recorded import Call, Settings
from opera.instrumentation.hosts import arguments
from opera.instrumentation.hosts.limits import LATE, Late, alarm, limit_memory
from opera.instrumentation.stream import Stream

LIBRARIES = ("keras", "pytorch", "tensorflow")
AT_HAND = 25
"""Recorded calls of an API that say which values its parameters get."""
FIRST = 25.0
"""Seconds that a recorded call may take: with its first call, an operator may load parts of its library."""
ENTRIES = 1_000_000
"""More entries than one API has. Each variation is an entry, so one that kills the process costs no other."""


def main(argv: Sequence[str]) -> None:
    """Writes the recording of one shard."""
    parser = arguments.parser("settings")
    parser.add_argument("--library", default="pytorch", choices=LIBRARIES)
    parser.add_argument("--instances", default="", help='JSON Lines file of recorded instances, {"id": ..., "instance": {...}}')
    parser.add_argument("--calls", type=int, default=3, help="vary at most this number of calls of an operator")
    parser.add_argument("--pairs", type=int, default=40, help="draw this number of pairs of settings for each call")
    parser.add_argument("--known", default="no", choices=("no", "yes"), help="combine only what the condition of a known bug combines")
    parser.add_argument("--refusals", type=int, default=0, help="also record at most this number of calls of an operator that it refuses")
    options = parser.parse_args(argv)
    warnings.simplefilter("ignore")
    filters = arguments.filters(options)
    bench: Any = importlib.import_module(f"opera.extensions.generators.deeprel.{options.library}").Relations()
    with Stream(options.recording, bench.library, bench.version, options.source) as stream, bench.recorder(stream, filters) as recorder:
        if not options.instances:
            stream.drop("no-sample:NoInstances", "?")
            print("no file of recorded instances was given: --instances FILE", flush=True)
            return
        file = InstanceFile(options.instances, bench.library, AT_HAND)
        chosen = sorted(name for name in file.apis if filters.selected(name) and file.apis[name].offsets)
        killers = _killers(options)
        index, count = options.shard
        for number in range(index, len(chosen), count):
            name, first = chosen[number], number * ENTRIES
            if first + ENTRIES <= options.after:
                continue
            if first > options.after:
                stream.enter(first, name)
            limit_memory()
            if filters.excluded(name) or filters.noise(name) is not None:
                stream.drop("excluded", name)
                continue
            _Entry(bench, stream, recorder, name, first, options, killers).run(file)


class _Entry:
    """The settings of one API."""

    def __init__(self, bench: Any, stream: Stream, recorder: Any, name: str, first: int, options: Any, killers: frozenset[int]) -> None:
        self._bench = bench
        self._stream = stream
        self._recorder = recorder
        self._name = name
        self._number = first
        self._options = options
        self._killers = killers
        self._refusals: set[str] = set()

    def run(self, file: InstanceFile) -> None:
        """Makes the variations of some of its calls, and records those that return."""
        api = self._declared()
        calls = [] if api is None else self._calls(file)
        if api is None or not calls:
            return
        settings = Settings(api, calls, self._bench.numpy_dtype, self._bench.typed)
        for index, call in enumerate(spread(calls, self._options.calls)):
            known = settings.of(call)
            if not self._attempt(call, f"{self._name}::{index}::as recorded", watched=False):
                continue
            deadly: set[int] = set()
            combined = combinations(conditions(), self._name, known) if self._options.known == "yes" else None
            seed = f"{self._options.seed}:{self._name}:{index}"
            for numbers, made in variations(call, known, self._options.pairs, seed, combined):
                if deadly.isdisjoint(numbers):
                    self._attempt(made, f"{self._name}::{index}::" + ", ".join(str(known[number]) for number in numbers))
                else:
                    self._pass_over()
                if self._number in self._killers:
                    deadly.update(numbers if len(numbers) == 1 else ())

    def _declared(self) -> Optional[TargetApi]:
        """What the library declares of the parameters; None, which is counted, where it declares nothing that can be read."""
        try:
            api: Optional[TargetApi] = self._bench.api(self._name)
        except Exception as error:
            print(f"{self._name}: {type(error).__name__}: {error}", flush=True)
            api = None
        if api is None and self._number > self._options.after:
            self._stream.drop("no-sample:NoSignature", self._name)
        return api

    def _calls(self, file: InstanceFile) -> list[Call]:
        """Its recorded calls, as far as their values can be made again."""
        found: list[Call] = []
        for document in file.documents(self._name):
            try:
                found.append(self._bench.sampled(document))
            except Exception as error:
                if self._number > self._options.after:
                    self._stream.drop(f"no-sample:{type(error).__name__}", self._name)
        return found

    def _attempt(self, call: Call, name: str, watched: bool = True) -> bool:
        """Makes *call* unseen, and if it returns and is *watched*, again under the recorder; returns whether it did, or was made before."""
        self._number += 1
        if self._number <= self._options.after:
            return True
        test = f"{self._stream.source}::{name}"
        self._stream.enter(self._number, name)
        self._stream.begin(test)
        try:
            with alarm(LATE if watched else FIRST):
                self._prepared(call, test)()
                if watched:
                    run = self._prepared(call, test)
                    with self._recorder.watching():
                        run()
        except (Exception, Late) as error:
            if watched and not isinstance(error, Late) and self._is_new(error):
                run = self._prepared(call, test)
                with suppress(Exception, Late), alarm(LATE), self._recorder.watching():
                    run()
                return False
            self._stream.drop("not-valid" if watched else "no-sample:NotRepeated", self._name)
            if not watched:
                print(f"{name}: {type(error).__name__}: {str(error)[:200]}", flush=True)
            return False
        return True

    def _is_new(self, error: Exception) -> bool:
        """Whether to record a refusal: none says the same but for numbers, and there are not too many yet."""
        said = re.sub(r"\d+", "#", f"{type(error).__name__}: {str(error)[:200]}")
        if said in self._refusals or len(self._refusals) >= self._options.refusals:
            return False
        self._refusals.add(said)
        return True

    def _pass_over(self) -> None:
        """Counts a pair with a setting that, alone, ended an earlier host: a new host for each such pair would take its time."""
        self._number += 1
        if self._number > self._options.after:
            self._stream.drop("ends-its-process", self._name)

    def _prepared(self, call: Call, test: str) -> Callable[[], Any]:
        """The call with everything built, so that the call alone can be watched."""
        self._bench.reset(self._options.seed, test)
        made = self._bench.rebuilt(call)
        target = self._bench.resolve(call.api)
        if call.module:
            target = self._bench.built(target, *_plain(made.items, "build"), made.context)
        positional, keywords = _plain(made.items, "call")
        return lambda: target(*positional, **keywords)


def _killers(options: Any) -> frozenset[int]:
    """The variations that ended earlier hosts of this shard: a file next to the recording has them, the last is the one to go on after."""
    folder, name = os.path.split(str(options.recording))
    path = os.path.join(folder, name.partition("+")[0] + ".killers")
    if options.after >= 0:
        with open(path, "a", encoding="ascii") as file:
            file.write(f"{options.after}\n")
    try:
        with open(path, encoding="ascii") as file:
            return frozenset(int(line) for line in file)
    except FileNotFoundError:
        return frozenset()


def _plain(items: Any, part: str) -> Any:
    mine = [item for item in items if item[0] == part]
    return [value for _, _, value, keyword in mine if not keyword], {name: value for _, name, value, keyword in mine if keyword}
