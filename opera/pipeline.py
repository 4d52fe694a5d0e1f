"""The stages of OPERA on one workspace, for use from Python.

Each method does what the command of its name does. It opens the workspace for as long as it runs, so that other processes can use the
workspace between two calls.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from opera.compilers.registry import check_level, choose_route, plugin
from opera.config import load_config
from opera.corpus.record import record
from opera.corpus.selection import check_keyword, selector
from opera.difftest.settings import Settings
from opera.extract import ExtractOptions, SourceSummary
from opera.extract import Progress as ExtractionProgress
from opera.instance import Instance
from opera.models.forms import InputForm
from opera.prioritize import Adaptive, Context, History, equipped_counts, get_strategy
from opera.prioritize.earlier import gathered
from opera.prioritize.ranking import DEFAULT_STRATEGY, campaign_strategy, current_order, rank, unordered
from opera.report.overview import findings_among
from opera.run.adaptive import Adaptation, all_alike
from opera.run.campaign import Summary, run_campaign
from opera.run.observers import ProgressListener
from opera.run.plan import nightly_part
from opera.run.progress import CampaignProgress
from opera.store import Campaigns, Corpus, Workspace, queries
from opera.store.database import open_workspace
from opera.store.queries import Scope
from opera.store.reductions import StoredReduction
from opera.triage.findings import Finding
from opera.triage.known_failures import results_in
from opera.triage.runner import Triage, TriageOptions, TriageTally


@dataclass(frozen=True)
class Pipeline:
    """The stages on one workspace.

    Attributes:
        workspace: Its folder; `extract` makes it if it does not exist.
    """

    workspace: Path = field(default=Path(".opera"))

    def extract(
        self,
        library: str,
        sources: Sequence[str] = (),
        *,
        how: ExtractOptions | None = None,
        fresh: bool = False,
        progress: Callable[[ExtractionProgress], None] | None = None,
    ) -> tuple[SourceSummary, ...]:
        """Records the operator instances that a library's own tests use.

        Args:
            library: `onnx`, `pytorch`, `keras`, `tensorflow` ...
            sources: Names of sources, e.g. `opinfo`; if empty, all that do not run on request.
            how: How the sources run: number of processes, patterns, options of sources. The default runs one process of the configured
                interpreter.
            fresh: Whether to run finished files of a suite again.
            progress: Called a few times a second.

        Returns:
            Calls, instances and operators of each source.

        Raises:
            UserError: an unknown library, source or option.
            EnvironmentBroken: the workspace cannot be written.
        """
        how = how or ExtractOptions(python=load_config().python("library", library))
        with self._open(write=True, make=True) as space:
            return record(space, library, sources, how, fresh=fresh, progress=progress)

    def prioritize(
        self, compiler: str, frontend: str, *, strategy: str = DEFAULT_STRATEGY, history: Sequence[str] = (), seed: int = 0
    ) -> tuple[str, ...]:
        """Orders the instances for a compiler, those likely to reveal different bugs first, and keeps the ranking.

        Args:
            compiler: `tvm`, `openvino` ...
            frontend: Model format: `onnx`, `pytorch`, `keras` ...
            strategy: Name of the strategy.
            history: Files of recorded campaigns whose failures count, or `workspace` for the campaigns of the workspace.
            seed: Decides between instances that are worth the same.

        Returns:
            Ids of the instances in ranked order.

        Raises:
            UserError: an unknown compiler, frontend or strategy.
            NothingSelected: the workspace has no instance of the library.
        """
        route = choose_route(plugin(compiler).load(), frontend, None)
        get_strategy(strategy)
        with self._open(write=True) as space:
            corpus = Corpus(space)
            ranking = rank(corpus, compiler, route, strategy, seed, gathered(history, space, compiler, route))
            return tuple(corpus.ranked(ranking.id))

    def run(
        self, settings: Settings, *, nightly: bool = False, history: Sequence[str] = (), progress: ProgressListener | None = None
    ) -> Summary:
        """Runs the ranked instances through one compiler, or continues that campaign.

        Args:
            settings: The compiler, the frontend, and everything else that decides which tests run and how.
            nightly: Whether earlier failures run first, then new instances.
            history: Files of recorded campaigns whose failures count, or `workspace` for the campaigns of the workspace.
            progress: Is told how the campaign goes.

        Returns:
            Counts of the campaign. `stopped_by` is `interrupt` after Ctrl-C.

        Raises:
            UserError: settings that do not fit the compiler.
            NothingSelected: no test is selected.
            EnvironmentBroken: the compiler, the library or the workspace does not work.
        """
        adapter = plugin(settings.compiler).load()
        route = choose_route(adapter, settings.frontend, settings.route)
        check_level(adapter, settings.level)
        selector(settings.keyword)
        if settings.strategy is not None:
            get_strategy(settings.strategy)
        with self._open(write=True) as space:
            corpus = Corpus(space, refused=InputForm.REFUSED in settings.forms)
            check_keyword(settings.keyword, corpus.runnable(route.library).values())
            earlier = gathered(history, space, settings.compiler, route)
            name = settings.strategy or campaign_strategy(corpus, settings.compiler, route, settings.seed)
            strategy, adaptation = get_strategy(name), None
            if isinstance(strategy, Adaptive) and settings.cap is None:
                order = unordered(corpus, route)
            else:
                order = current_order(corpus, settings.compiler, route, name, settings.seed, earlier)
            part = nightly_part(Campaigns(space), settings.compiler, settings.frontend) if nightly else None
            if part is not None:
                order.sort(key=part)
            if isinstance(strategy, Adaptive):
                context = Context(equipped_counts(settings.compiler, route.frontend), settings.seed, earlier or History())
                adaptation = Adaptation(strategy, context, part or all_alike)
            progress = progress or CampaignProgress(settings.subject, str(self.workspace), quiet=True)
            return run_campaign(space, load_config(), settings, lambda: corpus.readable(order), progress, adaptation)

    def triage(self, options: TriageOptions | None = None, say: Callable[[StoredReduction, str], None] | None = None) -> TriageTally:
        """Reduces failing tests, finds their triggers, and merges findings with one root cause.

        Args:
            options: What to reduce, and for how long.
            say: Is told each reduction, with the API of its instance.

        Returns:
            Counts of reductions.
        """
        with self._open(write=True) as space:
            return Triage(space, load_config(), options or TriageOptions(), say or (lambda reduction, api: None)).run()

    def findings(self, scope: Scope | None = None) -> tuple[Finding, ...]:
        """The findings among the results in *scope*, the most severe and most frequent of each subject first.

        Raises:
            UserError: there is no workspace, or no such campaign.
        """
        with self._open(write=False) as space:
            failures = [each for each in results_in(space, scope or Scope()) if each.fingerprint is not None]
            return findings_among(space, queries.apis(space), failures)

    def instances(self, library: str) -> Mapping[str, str]:
        """The API of each instance of *library* by the instance's id."""
        with self._open(write=False) as space:
            return dict(Corpus(space).runnable(library))

    def instance(self, key: str) -> Instance:
        """The instance with the id *key*; raises KeyError for an unknown id."""
        with self._open(write=False) as space:
            return Corpus(space).get(key)

    def _open(self, *, write: bool, make: bool = False) -> Workspace:
        return open_workspace(Path(self.workspace), write=write, make=make)
