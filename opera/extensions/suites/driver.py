"""The helper of a suite: drives the compiler with the code of OPERA's scripts, and compares the outputs."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from opera import templates
from opera.compilers.adapter import Adapter
from opera.compilers.registry import choose_route
from opera.errors import UserError
from opera.extensions.suites.layout import indented, source_of
from opera.report.reproducer import driving_code
from opera.testing import matching

if TYPE_CHECKING:
    import jinja2

TEMPLATES = Path(__file__).parent / "templates"
SCRIPTS = Path(templates.__file__).parent / "reproducers"
_LIBRARIES = {"onnx": "onnx", "torch": "torch", "keras": "keras", "tf": "tensorflow", "ml_dtypes": "ml_dtypes"}
"""Modules that the code of scripts takes for granted, by the name that it gives them."""
_ARRAY_OF_TORCH = '''
def numpy_of(tensor):
    """A tensor of PyTorch as an array, also in a dtype that numpy lacks."""
    torch = importlib.import_module("torch")
    tensor = tensor.detach().resolve_conj().resolve_neg().cpu().contiguous()
    name = str(tensor.dtype).removeprefix("torch.")
    if name == "bfloat16" or name.startswith("float8"):
        kind = getattr(importlib.import_module("ml_dtypes"), name)
        bits = torch.int16 if name == "bfloat16" else torch.uint8
        return tensor.view(bits).numpy().view(kind)
    return tensor.numpy()
'''
_KIND = '    kind = target["kind"] if isinstance(target, dict) else target.split()[0]\n'
_REQUIREMENTS = {
    "tvm": _KIND
    + """
    is_there = importlib.import_module("tvm").runtime.enabled(kind)
    return None if is_there else f"this build of TVM has no {kind}"
""".strip("\n"),
    "openvino": _KIND
    + """
    devices = importlib.import_module("openvino").Core().available_devices
    is_there = any(kind.split(".")[0] == each.split(".")[0] for each in devices)
    return None if is_there else f"OpenVINO has no device {kind} here"
""".strip("\n"),
    "onnxruntime": _KIND
    + """
    providers = importlib.import_module("onnxruntime").get_available_providers()
    return None if kind in providers else f"ONNX Runtime has no {kind} here"
""".strip("\n"),
}
"""Bodies of the function that says why a target cannot run here, by compiler."""


@dataclass(frozen=True)
class RouteFunction:
    """A function of the helper: how models of one frontend reach the compiler by one route.

    Attributes:
        frontend, name: Frontend and name of the route.
        function: Its name.
        text: Its source.
        modules: Modules that it imports: a test without them is skipped.
    """

    frontend: str
    name: str
    function: str
    text: str
    modules: tuple[str, ...]


def environment() -> jinja2.Environment:
    """The environment of the templates of suites."""
    import jinja2

    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def default_route(adapter: type[Adapter], frontend: str) -> str:
    """The name of the route that a check takes without being told."""
    return choose_route(adapter, frontend, None).name


def general_facts(versions: Mapping[str, str]) -> dict[str, object]:
    """The facts for code that takes any model of a frontend, in place of one: see `driving_code`."""
    return {
        "general": True,
        "compares": True,
        "versions": dict(versions),
        "opset": 0,
        "kind": None,
        "stage": "",
        "unsigned": False,
        "nested": False,
        "absent": False,
        "exact": False,
        "rtol": 0.0,
        "atol": 0.0,
        "to_compile": 'yield "compile"\n',
        "to_run": 'yield "run"\n',
        "target": "target",
        "device": "tvm.device(tvm.target.Target(target).get_target_device_type())",
        "array": "numpy_of(value)",
    }


def route_function(adapter: type[Adapter], frontend: str, route: str, versions: Mapping[str, str]) -> RouteFunction:
    """The function that drives the compiler of *adapter* by *route*.

    Args:
        adapter: Adapter of the compiler.
        frontend: Model format.
        route: Name of the route.
        versions: As the campaign recorded them.

    Raises:
        UserError: the adapter has no template for the frontend, or one that cannot be filled in.
    """
    if adapter.script_template(frontend) is None:
        raise UserError(
            f"the adapter {adapter.name} has no reproducer for {frontend}; docs/how-to/add-a-compiler.md explains how to write one"
        )
    facts = {**general_facts(versions), "route": route}
    code = driving_code(adapter, frontend, facts)
    body = ast.parse(code.text).body
    nodes = list(ast.walk(ast.Module(body, [])))
    used = {node.id for node in nodes if isinstance(node, ast.Name)}
    imported = [
        line for line in code.imports if not line.startswith("from ") or used & set(re.findall(r"\w+", line.partition(" import ")[2]))
    ]
    bound = {line.split()[-1] for line in imported}
    needed = [name for name in sorted(_LIBRARIES) if name in used and name not in bound]
    libraries = [f'{name} = importlib.import_module("{_LIBRARIES[name]}")' for name in needed]
    ordered = sorted(set(imported) - {"import tempfile"}, key=lambda line: (line.startswith("from"), line.lower()))
    is_default = route == default_route(adapter, frontend)
    function = f"run_{frontend}" if is_default else re.sub(r"\W", "_", f"run_{frontend}_{route}")
    lines = [
        f"def {function}(model, inputs, expected, target):",
        f'    """Runs a model of {frontend} by the route {route}, and gives the outputs."""',
        *(f"    {line}" for line in dict.fromkeys((*libraries, *(each for line in ordered for each in _assigned(line))))),
        indented(source_of(body)),
        *([] if any(isinstance(node, ast.Yield) for node in nodes) else ['    yield "run"']),
        f"    return {'actual' if 'actual' in used else 'expected'}",
    ]
    modules = [line.split()[1] for line in code.imports if line.startswith("import ")]
    own = [module for module in modules if module != "tempfile"]
    return RouteFunction(frontend, route, function, "\n".join(lines), (*own, *(_LIBRARIES[name] for name in needed)))


def _assigned(line: str) -> Iterator[str]:
    """The statements that do what the import *line* does, which no linter wants elsewhere, or in another order."""
    match ast.parse(line).body[0]:
        case ast.ImportFrom(module=str() as module, names=names):
            for each in names:
                yield f'{each.asname or each.name} = __import__("{module}", fromlist=["{each.name}"]).{each.name}'
        case ast.Import(names=names):
            for each in names:
                name = each.asname or each.name.partition(".")[0]
                yield f'{name} = importlib.import_module("{each.name if each.asname else name}")'
                if name != each.name and not each.asname:
                    yield f'importlib.import_module("{each.name}")'
        case _:
            raise ValueError(f"no import: {line}")


def helper(adapter: type[Adapter], functions: Iterable[RouteFunction], *, with_targets: bool) -> str:
    """The text of the helper, `opera_suite.py`."""
    functions = list(functions)
    texts = [each.text for each in functions]
    shared = {"numpy_of": _ARRAY_OF_TORCH, "packed": (SCRIPTS / "narrow_elements.j2").read_text(encoding="utf-8")}
    extra = [text for name, text in shared.items() if any(f"{name}(" in each for each in texts)]
    texts = [*(text.strip() for text in extra), *texts]
    modules = [name for name in ("ctypes", "math") if any(f"{name}." in text for text in texts)]
    defaults = {each.frontend: default_route(adapter, each.frontend) for each in functions}
    return (
        environment()
        .get_template("opera_suite.py.j2")
        .render(
            compiler=adapter.name,
            modules=modules,
            needed=sorted({module.partition(".")[0] for each in functions for module in each.modules}),
            with_targets=with_targets,
            requirement=_REQUIREMENTS.get(adapter.name, "    return {}.get(str(target))"),
            target=adapter.target,
            functions="\n\n\n".join(texts),
            routes=functions,
            defaults=defaults,
            tolerances={each: adapter.test_tolerances[each] for each in defaults if each in adapter.test_tolerances},
            matching=without_head(inspect.getsource(matching)),
        )
    )


def without_head(source: str) -> str:
    """*source* after its docstring and imports."""
    body = ast.parse(source).body
    first = next(node for node in body[1:] if not isinstance(node, (ast.Import, ast.ImportFrom)))
    return "\n".join(source.splitlines()[first.lineno - 1 :])
