"""The check of whole models, for use from Python; `opera check` calls it."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from opera.compilers.registry import Plugin, choose_route, plugin, plugins
from opera.config import Config, load_config
from opera.console import say
from opera.environments.checkup import Checkup
from opera.environments.checkup import State as Installed
from opera.errors import EnvironmentBroken, UserError
from opera.extensions.models.check import Found, ModelCheck, Node, OnCompiler, OpenModel, Report, State
from opera.instance import Instance
from opera.workers.process import Limits

__all__ = ["CheckedModel", "Found", "Node", "Report", "State", "check"]

_OTHERS = {
    **dict.fromkeys((".pt", ".pth", ".pkl"), "may hold code, so OPERA does not load it; export the model with torch.onnx.export"),
    ".pt2": "is a program of PyTorch; export it with torch.onnx.export",
    **dict.fromkeys((".keras", ".h5"), 'is a model of Keras; export it with model.export("model.onnx", format="onnx")'),
}
"""What to do with files of other formats."""
Tell = Callable[[str], None]


@dataclass(frozen=True)
class CheckedModel:
    """What compilers make of a model.

    Attributes:
        path: The model.
        nodes: Its operators, in the order of the file.
        reports: What each compiler makes of it.
        failing: By number, the nodes that a compiler gets wrong or crashes on, as instances with their true inputs.
    """

    path: Path
    nodes: Sequence[Node]
    reports: Sequence[Report]
    failing: Mapping[int, Instance]

    @property
    def is_clean(self) -> bool:
        """Whether every compiler compiles the whole model and gets all of it right."""
        return all(each.is_clean for each in self.reports)


def check(
    path: Path | str,
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
        path: An ONNX model.
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
    path = Path(path)
    if path.suffix in _OTHERS:
        raise UserError(f"{path.name} {_OTHERS[path.suffix]}, and check the .onnx file")
    if scratch is None:
        with tempfile.TemporaryDirectory(prefix="opera-check-") as folder:
            return check(
                path, compilers, inputs=inputs, sizes=sizes, seed=seed, timeout=timeout, memory=memory, scratch=Path(folder), tell=tell
            )
    scratch = scratch.resolve()  # workers have folders of their own
    config = load_config()
    chosen = [_with_onnx(plugin(name)) for name in compilers] or _installed(config, scratch)
    with OpenModel(path, inputs, dict(sizes or {}), seed, config, scratch, Limits(timeout, memory=memory)) as opened:
        reports = _reports(chosen, opened, config, scratch, timeout, memory, tell)
        numbers = {number for each in reports for number, found in each.nodes.items() if found.state in (State.WRONG, State.CRASH)}
        return CheckedModel(path, opened.nodes, reports, {number: opened.node(number) for number in sorted(numbers)})


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
