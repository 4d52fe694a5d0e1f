"""Times passing tests of a suite: warm calls of the library and of a backend, one after the other, with nothing else at work.

Feeding inputs is not timed where the adapter can feed them before.
"""

from __future__ import annotations

import hashlib
import statistics
from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass, replace
from typing import Any

from opera.config import Config
from opera.difftest.messages import Compile, KeptModel, KeptReference, TimeCalls, TimeCompiled, Timed, from_json
from opera.difftest.session import SubjectSession
from opera.difftest.settings import Settings
from opera.models.forms import InputForm, ModelForm
from opera.store import Campaigns, Corpus, Workspace
from opera.workers.pool_protocol import Role
from opera.workers.process import Done
from opera.workers.supervision import working_folder

_VERSION = 2
_FORM = ModelForm(InputForm.RUNTIME)


@dataclass(frozen=True)
class Seconds:
    """Warm calls: the median, the distance from the first to the third quartile, and the first quartile."""

    median: float
    spread: float
    first: float

    @staticmethod
    def of(calls: list[float]) -> Seconds:
        """The figures of *calls*, at least one."""
        if len(calls) < 2:
            return Seconds(calls[0], 0.0, calls[0])
        first, median, third = statistics.quantiles(calls, n=4, method="inclusive")
        return Seconds(median, third - first, first)


@dataclass(frozen=True)
class Latency:
    """The latency of a test on a backend.

    Attributes:
        baseline: Figures of what it is compared with.
        backend: Figures of the backend.
        with_feeding: Whether the backend's figures contain the conversion of inputs and outputs.
    """

    baseline: Seconds
    backend: Seconds
    with_feeding: bool

    @property
    def ratio(self) -> float:
        """The backend's first quartile in units of the baseline's: other work on the machine changes it less than the median."""
        return self.backend.first / max(self.baseline.first, 1e-9)

    @property
    def is_doubtful(self) -> bool:
        """Whether the calls of one side differ so much among each other that the ratio says little: half their median, or more."""
        return any(2 * each.spread >= each.median for each in (self.baseline, self.backend))


def measure(workspace: Workspace, config: Config, settings: Settings, instances: Iterable[str], repeats: int) -> dict[str, Latency]:
    """The latency of each of *instances*, which have passed on the backend of *settings*; known figures are not measured again."""
    campaigns, corpus = Campaigns(workspace), Corpus(workspace)
    found: dict[str, Latency] = {}
    with working_folder("crew", workspace.scratch) as scratch:
        session = SubjectSession(replace(settings, jobs=1), config, workspace.cache, scratch)
        try:
            identity = session.prove()
            for key in dict.fromkeys(instances):
                test = identity.test(key, settings.seed, _FORM)
                place = hashlib.sha256(f"latency {_VERSION} {repeats} {test}".encode()).hexdigest()
                document = campaigns.artefact(place)
                if document is None:
                    reference = campaigns.kept(identity.reference_key(key, settings.seed, _FORM))
                    model: Any = KeptModel()
                    if identity.route.artefact is not None:
                        model = campaigns.kept(identity.artefact_key(key, settings.seed, _FORM))
                    if not isinstance(reference, KeptReference) or not isinstance(model, KeptModel):
                        continue
                    what = corpus.document(key), key, settings.seed
                    library = session.ask(Role.LIBRARY, TimeCalls(*what, repeats))
                    route = (identity.route.frontend, identity.route.name)
                    compiled = Compile(*what, route, reference.bundle, model.model, None)
                    backend = session.ask(Role.COMPILER, TimeCompiled(compiled, repeats))
                    document = _document(library, backend)
                    if document is None:
                        continue
                    campaigns.keep_artefacts([(place, document)])
                found[key] = _latency(document)
        finally:
            session.pool.close()
    return found


def _document(library: object, backend: object) -> dict[str, Any] | None:
    """The figures to keep; None where one of the two did not answer with times."""
    times = [from_json(each.result) if isinstance(each, Done) else None for each in (library, backend)]
    one, two = times
    if not isinstance(one, Timed) or not isinstance(two, Timed) or not one.seconds or not two.seconds:
        return None
    baseline, backend = (astuple(Seconds.of(each.seconds)) for each in (one, two))
    return {"baseline": list(baseline), "backend": list(backend), "fed": two.with_feeding}


def _latency(document: Mapping[str, Any]) -> Latency:
    return Latency(Seconds(*document["baseline"]), Seconds(*document["backend"]), bool(document["fed"]))
