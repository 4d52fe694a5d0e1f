"""The settings of a campaign."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from opera.errors import UserError
from opera.models.forms import InputForm
from opera.untrusted import JsonObject
from opera.workers.pool_protocol import Cluster

SHARD = "shard"
"""The key of a selection that is there in a part of a campaign only."""


@dataclass(frozen=True)
class Shard:
    """The part *number*, from 1, of *count*. All tests of an instance are in one part, so that its reference is paid for once."""

    number: int
    count: int

    @staticmethod
    def parse(text: str) -> Shard:
        """`3/8`; raises UserError for anything else."""
        match = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text)
        if match is None or not 1 <= int(match[1]) <= int(match[2]):
            raise UserError(f"--shard {text!r} is not a part I/N; write e.g. --shard 3/8")
        return Shard(int(match[1]), int(match[2]))

    def has(self, instance: str) -> bool:
        """Whether the instance of that hash is in this part."""
        number = int.from_bytes(hashlib.sha256(instance.encode()).digest()[:8], "big")
        return number % self.count == self.number - 1

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"


@dataclass(frozen=True)
class Settings:
    """The arguments of a campaign.

    Attributes:
        compiler, frontend, route: The subject; *route* None means the frontend's default.
        forms: Input forms to try.
        opsets: Opsets of ONNX that models declare; none for the lowest at which each is valid.
        seed: Seed of the inputs and of the ranking.
        seeds: How many input seeds to try, from *seed* on; only tests whose inputs are drawn run more than once.
        strategy: Strategy of the ranking.
        keyword: `-k` expression.
        limit: Most tests.
        cap: Most instances per API, the first in ranked order.
        budget: Most seconds; what is left is done by the next run of the same command.
        maxfail: Findings after which to stop.
        jobs: Child processes that may be busy at a time, materialisers included.
        timeout: Seconds per stage.
        memory: Resident bytes per worker.
        chebyshev: The paper's single threshold instead of dtype-aware tolerances.
        level: The compiler's optimisation level; None for its default.
        shard: The part of the campaign to run, as `3/8`; None for all of it.
        build: Which build of the compiler this is, where its version does not tell.
        cluster: The Ray cluster that the workers are on; None for this machine.
        confirm: Whether a failure has to happen again in a fresh process. Only benchmarks say no.
        suite: Hash of the selected tests, if they are those of a suite: all outputs are kept.
    """

    compiler: str
    frontend: str
    route: str | None = None
    forms: tuple[InputForm, ...] = (InputForm.RUNTIME, InputForm.BAKED)
    opsets: tuple[int, ...] = ()
    seed: int = 0
    strategy: str | None = None
    keyword: str | None = None
    limit: int | None = None
    cap: int | None = None
    budget: float | None = None
    maxfail: int | None = None
    jobs: int = 2
    timeout: float = 60.0
    memory: int = 4 * 2**30
    chebyshev: float | None = None
    level: str | None = None
    confirm: bool = True
    seeds: int = 1
    shard: Shard | None = None
    build: str | None = None
    cluster: Cluster | None = None
    suite: str | None = None

    @property
    def subject(self) -> str:
        """The subject as `compiler/frontend`, e.g. `tvm/onnx`."""
        return f"{self.compiler}/{self.frontend}"

    def selection(self) -> JsonObject:
        """The part that decides which tests there are: two runs that agree in it and in the versions are one campaign."""
        whole: JsonObject = {
            "compiler": self.compiler,
            "frontend": self.frontend,
            "route": self.route,
            "forms": [form.value for form in self.forms],
            "seed": self.seed,
            "seeds": self.seeds,
            "strategy": self.strategy,
            "keyword": self.keyword,
            "limit": self.limit,
            "cap": self.cap,
            "chebyshev": self.chebyshev,
            "level": self.level,
        }
        if self.opsets:
            whole["opsets"] = list(self.opsets)
        if self.suite is not None:
            whole["suite"] = self.suite
        return whole if self.shard is None else {**whole, SHARD: str(self.shard)}

    def campaign(self, versions: Mapping[str, Any]) -> str:
        """The campaign's identity: a hash of its settings and *versions*."""
        return campaign_id(self.selection(), versions)


def campaign_id(selection: Mapping[str, Any], versions: Mapping[str, Any]) -> str:
    """The identity of a campaign with this selection and these versions: 12 hexadecimal digits."""
    return hashlib.sha256(json.dumps([dict(selection), dict(versions)], sort_keys=True).encode()).hexdigest()[:12]
