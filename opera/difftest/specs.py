"""The commands that start the two workers of a test, and the messages that they may send."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from opera.compilers.registry import Plugin
from opera.config import Config
from opera.difftest.messages import FROM_COMPILER, FROM_LIBRARY, tag_of
from opera.models.template import template_of
from opera.models.torch_tables import DECOMPOSED
from opera.oracles.review import OPINIONS
from opera.plugins import registered, search_path
from opera.workers.messages import ROLES, Answers
from opera.workers.process import WorkerSpec

_LIBRARY = "opera.difftest.model_worker:Materialiser"
_COMPILER = "opera.difftest.compiler_worker:CompilerWorker"


@dataclass(frozen=True)
class _CompilerInfo:
    versions: dict[str, str]
    remarks: list[str]
    imported: str


@dataclass(frozen=True)
class _LibraryInfo:
    versions: dict[str, str]
    remarks: list[str]
    template: str
    forkable: bool


ROLES[_LIBRARY] = Answers(_LibraryInfo, {tag_of(kind): kind for kind in FROM_LIBRARY})
_LETS_GO = {"MALLOC_MMAP_THRESHOLD_": str(4 * 2**20)}
"""Variables by which the C library gives large values back once they are freed; compilers get slower by it."""
ROLES[_COMPILER] = Answers(_CompilerInfo, {tag_of(kind): kind for kind in FROM_COMPILER})


def library_spec(config: Config, library: str, cache: Path, environment: Mapping[str, str] | None = None) -> WorkerSpec:
    """The worker that makes models of *library*, keeps them in *cache*, and reviews failures.

    Raises:
        UserError: no template or interpreter of that library is known.
    """
    template = template_of(library)
    return WorkerSpec(
        label=library,
        setup=_LIBRARY,
        options={"template": template, "opinion": registered(OPINIONS).get(library), "cache": str(cache), **_trusted(config)},
        python=config.python("library", library),
        path=search_path(template),
        environment={**_LETS_GO, **(environment or {})},
    )


def compiler_spec(
    config: Config,
    plugin: Plugin,
    libraries: Sequence[str],
    cache: Path,
    environment: Mapping[str, str],
    *,
    chebyshev: float | None = None,
    level: str | None = None,
) -> WorkerSpec:
    """The worker of the compiler *plugin* for models of *libraries*: of one in a campaign.

    Args:
        config: Says which interpreter, search path and variables to use.
        plugin: The compiler.
        libraries: The libraries of its routes.
        cache: Where models lie.
        environment: Environment of its routes.
        chebyshev: The paper's single threshold instead of dtype-aware tolerances.
        level: The optimisation level; None for the default.
    """
    templates = {library: template_of(library) for library in libraries}
    own = [route for route in plugin.load().routes if route.library in templates and dict(route.environment) == dict(environment)]
    options: dict[str, Any] = {
        "adapter": plugin.target,
        "templates": templates,
        "cache": str(cache),
        "decomposes": any(route.artefact == DECOMPOSED for route in own),
        "builds": sorted({route.library for route in own if route.artefact is None}),
        "chebyshev": chebyshev,
        **_trusted(config),
    }
    if level is not None:
        options["settings"] = {"level": level}
    return WorkerSpec(
        label=plugin.name,
        setup=_COMPILER,
        options=options,
        python=config.python("compiler", plugin.name),
        path=tuple(dict.fromkeys((*plugin.search_path(), *(folder for each in templates.values() for folder in search_path(each))))),
        environment={**environment, **plugin.load().worker_environment(cache), **config.environment(plugin.name)},
        search_first=config.search_first(plugin.name),
    )


def _trusted(config: Config) -> dict[str, Any]:
    return {"trust": config.trust.message()} if config.trust.folders else {}
