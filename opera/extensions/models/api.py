"""The check of whole models, for use from Python; `opera check` calls it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from opera.compilers.registry import Plugin, choose_route, plugin, plugins
from opera.config import Config, load_config
from opera.console import say
from opera.difftest.specs import library_spec
from opera.environments.checkup import Checkup
from opera.environments.checkup import State as Installed
from opera.errors import EnvironmentBroken, UserError
from opera.extensions.models.check import Found, ModelCheck, Node, OnCompiler, OpenModel, Report, State, refused
from opera.instance import Instance
from opera.workers.process import Broken, Limits, Lost
from opera.workers.session import WorkerSession

__all__ = ["CheckedModel", "Found", "Node", "Report", "State", "check"]

_OTHERS = {
    **dict.fromkeys((".pt", ".pth", ".pkl"), "may hold code"),
    ".h5": "may hold code; save the model as a .keras file",
}
"""Why files of other formats are not loaded."""
_EXPORTED = {".keras": ("keras", {"KERAS_BACKEND": "torch"}), ".pt2": ("pytorch", {"TORCH_FORCE_WEIGHTS_ONLY_LOAD": "1"})}
"""The library that exports files of a format, and variables of its process."""
_EXPORTER = "opera.extensions.models.templates.exporter:Exporter"
Tell = Callable[[str], None]


@dataclass(frozen=True)
class CheckedModel:
    """What compilers make of a model.

    Attributes:
        name: The model, as it was named.
        nodes: Its operators, in the order of the ONNX file.
        reports: What each compiler makes of it.
        exported: Whether the ONNX model computes what the library does that it comes from; None for a model that was one of ONNX already.
        failing: What a compiler gets wrong or crashes on, as instances with their true inputs: nodes by name, and nodes that fail only
            together.
    """

    name: str
    nodes: Sequence[Node]
    reports: Sequence[Report]
    exported: Found | None
    failing: Mapping[str, Instance]

    @property
    def is_clean(self) -> bool:
        """Whether every compiler compiles the whole model and gets all of it right, and the exporter, too."""
        return all(each.is_clean for each in self.reports) and (self.exported is None or self.exported.state is State.RIGHT)


def check(
    model: Path | str,
    compilers: Sequence[str] = (),
    *,
    inputs: Path | None = None,
    sizes: Mapping[str, int] | None = None,
    seed: int = 0,
    timeout: float = 300.0,
    memory: int = 8 * 2**30,
    scratch: Path | None = None,
    tell: Tell = lambda _: None,
) -> CheckedModel:
    """Checks a model whole, each of its operators, and the edges between them where only these are wrong.

    Args:
        model: An `.onnx`, a `.keras` or a `.pt2` file, or `module:function`, whose function returns a module of PyTorch with its inputs,
            as `(module, args)` or `(module, args, kwargs)`.
        compilers: Names of compilers, e.g. `openvino`; all that are installed and take ONNX models if there are none.
        inputs: A file of numpy with values of inputs by name; the others are drawn.
        sizes: Sizes of symbolic dimensions by name.
        seed: Seed of the inputs that are drawn.
        timeout: Seconds for each stage of a compilation.
        memory: Bytes that a worker may take.
        scratch: A folder for working files; by default one that is removed afterwards.
        tell: Takes lines that say how it goes.

    Raises:
        UserError: the model cannot be checked, or a compiler takes no ONNX models.
        EnvironmentBroken: no compiler can be started.
    """
    name, path = str(model), Path(model)
    if path.suffix in _OTHERS:
        raise UserError(f"{path.name} {_OTHERS[path.suffix]}; write a function that loads it, and check module:function")
    if scratch is None:
        with tempfile.TemporaryDirectory(prefix="opera-check-") as folder:
            return check(
                model, compilers, inputs=inputs, sizes=sizes, seed=seed, timeout=timeout, memory=memory, scratch=Path(folder), tell=tell
            )
    scratch = scratch.resolve()  # workers have folders of their own
    config, limits, outputs = load_config(), Limits(timeout, memory=memory), None
    chosen = [_with_onnx(plugin(each)) for each in compilers] or _installed(config, scratch)
    if (path.suffix in _EXPORTED and path.is_file()) or (":" in name and not path.exists()):
        if inputs is not None:
            raise UserError("the inputs of an exported model come with it, or are drawn; leave --inputs out")
        tell(f"exporting {name}")
        path, inputs, outputs = _exported(name, sizes or {}, seed, config, scratch, limits)
    elif not path.is_file():
        raise UserError(f"{name} does not exist; name an .onnx, .keras or .pt2 file, or module:function")
    with OpenModel(path, inputs, sizes or {}, seed, config, scratch, limits, outputs) as opened:
        reports = _reports(chosen, opened, config, scratch, timeout, memory, tell)
        numbers = {number for each in reports for number, found in each.nodes.items() if found.state in (State.WRONG, State.CRASH)}
        alone = {f"{number} {opened.nodes[number]}": opened.node(number) for number in sorted(numbers)}
        together = {" ".join(each.edges): each.piece for each in reports if each.piece is not None}
        return CheckedModel(name, opened.nodes, reports, opened.exported, {**alone, **together})


def _exported(name: str, sizes: Mapping[str, int], seed: int, config: Config, scratch: Path, limits: Limits) -> tuple[Path, Path, Path]:
    """The ONNX model that the model *name* is exported to, and files with its inputs and with what its library computes."""
    library, environment = _EXPORTED.get(Path(name).suffix, ("pytorch", {}))
    own = library_spec(config, library, scratch)
    folder = scratch / "exported"
    folder.mkdir()
    is_file = Path(name).suffix in _EXPORTED
    options = {"source": str(Path(name).resolve()) if is_file else name, "folder": str(folder), "sizes": dict(sizes), "seed": seed}
    first = () if is_file else (os.getcwd(),)
    spec = replace(own, setup=_EXPORTER, options=options, environment={**own.environment, **environment}, search_first=first)
    session = WorkerSession(spec, limits, scratch)
    try:
        event = session.start()
    finally:
        session.close()
    if isinstance(event, Broken | Lost):
        raise refused(name, event, library)
    return folder / "model.onnx", folder / "inputs.npz", folder / "outputs.npz"


def _with_onnx(each: Plugin) -> Plugin:
    """The compiler *each*; raises UserError if it takes no ONNX models."""
    choose_route(each.load(), "onnx", None)
    return each


def _installed(config: Config, scratch: Path) -> list[Plugin]:
    """The compilers that take ONNX models and are installed."""
    folder = scratch / "installed"
    folder.mkdir()
    takes = [each for each in plugins().values() if any(route.frontend == route.library == "onnx" for route in each.load().routes)]
    there = {each.name for each in Checkup(config, folder, 1, say).installed(takes) if each.state is Installed.INSTALLED}
    if not there:
        raise EnvironmentBroken('no compiler of ONNX models is installed; install one, e.g. `pip install "opera-dl[openvino,onnx]"`')
    return [each for each in takes if each.name in there]


def _reports(
    chosen: Sequence[Plugin], opened: OpenModel, config: Config, scratch: Path, timeout: float, memory: int, tell: Tell
) -> list[Report]:
    found: list[Report] = []
    for each in chosen:
        folder = scratch / each.name
        folder.mkdir()
        tell(f"checking on {each.name}")
        try:
            with OnCompiler(each.name, config, folder, timeout=timeout, memory=memory) as runner:
                found.append(ModelCheck(opened, runner, partial(_told, tell, each.name)).run())
        except EnvironmentBroken as error:
            if len(chosen) == 1:
                raise
            say(f"{each.name} is left out: {error}")
    if not found:
        raise EnvironmentBroken("no compiler could be started; run `opera doctor`")
    return found


def _told(tell: Tell, compiler: str, what: str) -> None:
    tell(f"{compiler}: {what}")
