"""The calls that a compiler does not take, learnt from programs of one call each. A workspace keeps the answers of each version."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from opera.extensions.programs.cover import CoveringGenerator
from opera.extensions.programs.instances import SOURCE, called_features, instance_of
from opera.extensions.programs.languages import drawn_from
from opera.extensions.programs.policy import Policy
from opera.instance import Instance, Occurrence, digest
from opera.oracles.verdict import Verdict
from opera.run.campaign import Summary
from opera.store import Campaigns, Corpus
from opera.store.database import open_workspace

_SAMPLES = 3
"""Programs of one call that a compiler has to decline, with other shapes, parameters and values."""
_SEEDS = 60
"""Programs that are drawn for each operator: a call has the dtypes of its arguments, and these are drawn."""
Probes = Mapping[str, Sequence[Instance]]
"""By call, e.g. `add(int8, int8)`, programs that have this call alone."""


def probes_of(policy: Policy) -> Probes:
    """Programs of one call for each call that *policy* draws; about 300 calls in each language."""
    alone = replace(policy, cover=1, operators=1, ill_typed=0.0)
    generator = CoveringGenerator(alone, drawn_from(alone))
    found: dict[str, list[Instance]] = defaultdict(list)
    for seed in range(_SEEDS * generator.choices):
        generated = generator.generate(seed)
        calls = [feature for _, feature in called_features(generated.program)]
        if len(calls) == 1 and len(found[calls[0]]) < _SAMPLES:
            found[calls[0]].append(instance_of(generated, policy.language))
    return found


def declined_calls(probes: Probes, workspace: Path, run: Callable[[Path], Summary]) -> frozenset[str]:
    """The calls of which a compiler declines every program.

    Args:
        probes: The programs.
        workspace: Folder of a workspace for programs and answers; made if it is not there.
        run: Runs all programs of that workspace; those that have an answer are not run again.

    Raises:
        KeyboardInterrupt: Ctrl-C.
    """
    left = set(probes)
    for sample in range(_SAMPLES):
        asked = {call: probes[call][sample] for call in left if sample < len(probes[call])}
        with open_workspace(workspace, write=True, make=True) as space:
            Corpus(space).add((instance, Occurrence(SOURCE, f"probe of {call}")) for call, instance in asked.items())
        summary = run(workspace)
        if summary.stopped_by == "interrupt":
            raise KeyboardInterrupt
        with open_workspace(workspace, write=False) as space:
            declined = {each.instance for each in Campaigns(space).results(summary.campaign) if each.verdict is Verdict.UNSUPPORTED}
        left -= {call for call, instance in asked.items() if digest(instance) not in declined}
    return frozenset(left)
