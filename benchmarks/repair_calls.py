"""Runs the hidden calls of a task of the repair benchmark, and says of each whether the compiler gives the library's result.

python repair_calls.py TASK.json [--cheat zeros|wide]

Standard output has a JSON line for each call: its number, `right`, `wrong`, `raises` or `left out`, and why. With --cheat, zeros of the
right dtype and shape, or the right values in float64, stand for the compiler's result: what a trivial repair would give. The file stands
alone; it needs numpy, the library, and the compiler.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import json
import re
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

_NUMBERS = re.compile(r"(float|int|uint|complex)(8|16|32|64|128)|bool|bfloat16")
_TOLERANCE = {"float16": 2e-3, "bfloat16": 2e-2, "float32": 2e-4, "complex64": 2e-4}
_MAKERS = ("tensor", "zeros", "ones", "full", "arange")
"""Functions of PyTorch whose results are inputs, too."""


class LeftOutError(Exception):
    """A call that the benchmark cannot make; the message says why."""


class _Inputs(ast.NodeTransformer):
    """Takes every tensor out of a call: `float32[2,3]` is drawn, `int64([1, 2])` is as it is written."""

    def __init__(self, make: Callable[[str, Any, tuple[int, ...] | None], Any]) -> None:
        self._make = make
        self.values: list[Any] = []

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        if isinstance(node.value, ast.Name) and _NUMBERS.fullmatch(node.value.id):
            shape = ast.literal_eval(node.slice)
            return self._taken(self._make(node.value.id, None, shape if isinstance(shape, tuple) else (shape,)))
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if isinstance(node.func, ast.Name) and _NUMBERS.fullmatch(node.func.id) and len(node.args) == 1 and not node.keywords:
            return self._taken(self._make(node.func.id, _literal(node.args[0]), None))
        if ast.unparse(node.func).removeprefix("torch.") in _MAKERS:
            return self._taken(self._make("", node, None))
        return self.generic_visit(node)

    def _taken(self, value: Any) -> ast.Name:
        self.values.append(value)
        return ast.Name(f"x{len(self.values) - 1}", ast.Load())


def _literal(node: ast.AST) -> Any:
    """A number or nested lists of numbers; `nan` and `inf` are numbers, too."""
    text = re.sub(r"\b(nan|inf)\b", lambda found: {"nan": "(1e999 - 1e999)", "inf": "1e999"}[found[0]], ast.unparse(node))
    if not re.fullmatch(r"[\d\s.,eEjJ+*()\[\]TrueFals-]*", text):
        raise LeftOutError("a tensor is no literal")
    return eval(text, {"__builtins__": {}})  # digits, brackets and signs


def _drawn(dtype: str, shape: tuple[int, ...], number: int) -> Any:
    random = np.random.default_rng([7, number])
    if dtype == "bool":
        return random.integers(0, 2, shape).astype(bool)
    if dtype.startswith(("int", "uint")):
        return random.integers(0, 3, shape).astype(dtype)
    found = random.uniform(0.5, 2, shape)
    return (found + 1j * random.uniform(0.5, 2, shape)).astype(dtype) if dtype.startswith("complex") else found


def _parsed(call: str) -> ast.Expression:
    try:
        tree = ast.parse(call.strip(), mode="eval")
    except (SyntaxError, ValueError) as error:
        raise LeftOutError("words beside the call") from error
    if any(isinstance(each, ast.Constant) and each.value is ... for each in ast.walk(tree)):
        raise LeftOutError("parts of the call are left out")
    return tree


def pytorch_case(call: str) -> tuple[Any, tuple[Any, ...], list[Any]]:
    """Module, inputs and PyTorch's own results of *call*."""
    torch: Any = importlib.import_module("torch")

    def make(dtype: str, value: Any, shape: tuple[int, ...] | None) -> Any:
        if isinstance(value, ast.Call):
            if {each.id for each in ast.walk(value) if isinstance(each, ast.Name)} - {"torch", *_MAKERS, "inf", "nan"}:
                raise LeftOutError("a tensor is no literal")
            known = {**{name: getattr(torch, name) for name in _MAKERS}, "torch": torch, "inf": float("inf"), "nan": float("nan")}
            return eval(ast.unparse(value), {"__builtins__": {}, **known})
        own = _drawn(dtype, shape, len(inputs.values)) if shape is not None else value
        return torch.as_tensor(own if shape is None else torch.from_numpy(np.asarray(own)), dtype=getattr(torch, dtype))

    inputs = _Inputs(make)
    try:
        tree = ast.fix_missing_locations(inputs.visit(_parsed(call)))
    except LeftOutError:
        raise
    except Exception as error:
        raise LeftOutError(f"an input raises {type(error).__name__}") from error
    names = {each.id for each in ast.walk(tree) if isinstance(each, ast.Name)} - {f"x{n}" for n in range(len(inputs.values))}
    if names - {"torch"}:
        raise LeftOutError(f"the name {min(names - {'torch'})}")
    arguments = ", ".join(f"x{n}" for n in range(len(inputs.values)))
    function = eval(f"lambda {arguments}: {ast.unparse(tree)}", {"torch": torch})

    class Model(torch.nn.Module):
        def forward(self, *tensors: Any) -> Any:
            result = function(*tensors)
            return tuple(leaf for leaf in torch.utils._pytree.tree_leaves(result) if isinstance(leaf, torch.Tensor))

    model, given = Model(), tuple(inputs.values)
    try:
        expected, other = (_of_pytorch(model, given, seed) for seed in (0, 1))
    except Exception as error:
        raise LeftOutError(f"PyTorch raises {type(error).__name__}") from error
    if not expected:
        raise LeftOutError("no tensor is returned")
    if not same(expected, other):
        raise LeftOutError("random numbers")
    return model, given, expected


def _of_pytorch(model: Any, given: tuple[Any, ...], seed: int) -> list[Any]:
    torch: Any = importlib.import_module("torch")
    torch.manual_seed(seed)
    with torch.no_grad():
        return [_numpy(leaf.clone()) for leaf in model(*(each.clone() for each in given))]


def _numpy(tensor: Any) -> Any:
    torch: Any = importlib.import_module("torch")
    if tensor.dtype == torch.bfloat16:
        return tensor.detach().view(torch.int16).numpy().view(importlib.import_module("ml_dtypes").bfloat16)
    return tensor.detach().resolve_conj().resolve_neg().contiguous().numpy()


def onnx_case(call: str) -> tuple[Any, dict[str, Any], list[Any]]:
    """Model, inputs and the results of ONNX' evaluator of *call*."""
    onnx: Any = importlib.import_module("onnx")
    tree = _parsed(call).body
    if not isinstance(tree, ast.Call) or not ast.unparse(tree.func).startswith("ai.onnx."):
        raise LeftOutError("no call of an operator of ONNX")
    operator = ast.unparse(tree.func).removeprefix("ai.onnx.")

    def make(dtype: str, value: Any, shape: tuple[int, ...] | None) -> Any:
        numpy = importlib.import_module("ml_dtypes").bfloat16 if dtype == "bfloat16" else np.dtype(dtype)
        return np.asarray(_drawn(dtype, shape, len(inputs.values)) if shape is not None else value).astype(numpy)

    inputs = _Inputs(make)
    try:
        schema = onnx.defs.get_schema(operator)
    except Exception as error:
        raise LeftOutError("no such operator") from error
    formal = [each.name for each in schema.inputs]
    slots: list[Any] = []
    attributes: dict[str, Any] = {}
    for place, node in enumerate(tree.args):
        slots += [None] * (place + 1 - len(slots))
        slots[place] = inputs.visit(node)
    for keyword in tree.keywords:
        name = str(keyword.arg)
        if name in schema.attributes:
            attributes[name] = _attribute(keyword.value)
        elif name in formal:
            place = formal.index(name)
            while place < len(slots) and slots[place] is not None:
                place += 1
            slots += [None] * (place + 1 - len(slots))
            slots[place] = inputs.visit(keyword.value)
        else:
            raise LeftOutError(f"the name {name}")
    names = []
    for each in slots:
        if each is None or (isinstance(each, ast.Constant) and each.value is None):
            names.append("")
        elif isinstance(each, ast.Name) and each.id.startswith("x"):
            names.append(each.id)
        else:
            raise LeftOutError("an input is no tensor")
    node = onnx.helper.make_node(operator, names, ["out0"], **attributes)
    given = {f"x{n}": value for n, value in enumerate(inputs.values)}
    kinds = {name: onnx.helper.np_dtype_to_tensor_dtype(value.dtype) for name, value in given.items()}
    infos = [onnx.helper.make_tensor_value_info(name, kinds[name], value.shape) for name, value in given.items()]
    try:
        draft = onnx.helper.make_graph([node], "g", infos, [onnx.helper.make_empty_tensor_value_info("out0")])
        opset = min(max(schema.since_version, 13), 22)
        model = onnx.helper.make_model(draft, opset_imports=[onnx.helper.make_opsetid("", opset)], ir_version=10)
        expected = [np.asarray(each) for each in importlib.import_module("onnx.reference").ReferenceEvaluator(model).run(None, given)]
        outputs = [
            onnx.helper.make_tensor_value_info(f"out{n}", onnx.helper.np_dtype_to_tensor_dtype(each.dtype), each.shape)
            for n, each in enumerate(expected)
        ]
        graph = onnx.helper.make_graph([node], "g", infos, outputs)
        model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", opset)], ir_version=10)
        onnx.checker.check_model(model, full_check=True)
    except Exception as error:
        raise LeftOutError(f"ONNX raises {type(error).__name__}") from error
    return model, given, expected


def _attribute(node: ast.AST) -> Any:
    try:
        return ast.literal_eval(node)
    except ValueError as error:
        raise LeftOutError("an attribute is no literal") from error


def _exported(model: Any, inputs: tuple[Any, ...]) -> Any:
    torch: Any = importlib.import_module("torch")
    try:
        with torch.no_grad():
            return torch.export.export(model, tuple(each.clone() for each in inputs), strict=False)
    except Exception as error:
        raise LeftOutError("torch.export raises") from error


def _tvm(module: Any, inputs: Sequence[Any]) -> list[Any]:
    tvm: Any = importlib.import_module("tvm")
    relax: Any = importlib.import_module("tvm.relax")
    machine = relax.VirtualMachine(tvm.compile(module, target="llvm"), tvm.cpu())
    result = machine["main"](*map(tvm.runtime.tensor, inputs))
    return [each.numpy() for each in ([result] if hasattr(result, "numpy") else result)]


def tvm_pytorch(model: Any, inputs: tuple[Any, ...], route: str) -> list[Any]:
    """TVM's result by its importer of exported programs."""
    importer: Any = importlib.import_module("tvm.relax.frontend.torch")
    return _tvm(importer.from_exported_program(_exported(model, inputs)), [_numpy(each) for each in inputs])


def tvm_onnx(model: Any, inputs: dict[str, Any], route: str) -> list[Any]:
    """TVM's result by its importer of ONNX."""
    return _tvm(importlib.import_module("tvm.relax.frontend.onnx").from_onnx(model), list(inputs.values()))


def _openvino(converted: Any, inputs: list[Any]) -> list[Any]:
    core: Any = importlib.import_module("openvino").Core()
    compiled = core.compile_model(converted, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    request = compiled.create_infer_request()
    for place, value in enumerate(inputs[: len(compiled.inputs)]):
        request.set_input_tensor(place, importlib.import_module("openvino").Tensor(np.array(value, order="C")))
    request.infer()
    return [np.array(request.get_output_tensor(place).data) for place in range(len(compiled.outputs))]


def openvino_pytorch(model: Any, inputs: tuple[Any, ...], route: str) -> list[Any]:
    """OpenVINO's result by the route of the finding."""
    torch: Any = importlib.import_module("torch")
    if route == "torchscript":
        with torch.no_grad():
            captured = torch.jit.trace(model, inputs, check_trace=False)
    else:
        captured = _exported(model, inputs)
    converted = importlib.import_module("openvino").convert_model(captured, input=[list(each.shape) for each in inputs])
    return _openvino(converted, [_numpy(each) for each in inputs])


def openvino_onnx(model: Any, inputs: dict[str, Any], route: str) -> list[Any]:
    """OpenVINO's result by its frontend of ONNX."""
    core: Any = importlib.import_module("openvino").Core()
    return _openvino(core.read_model(model.SerializeToString()), list(inputs.values()))


def onnxruntime_onnx(model: Any, inputs: dict[str, Any], route: str) -> list[Any]:
    """The result of ONNX Runtime."""
    ort: Any = importlib.import_module("onnxruntime")
    session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return list(session.run(None, {each.name: inputs[each.name] for each in session.get_inputs()}))


def torch_onnx_pytorch(model: Any, inputs: tuple[Any, ...], route: str) -> list[Any]:
    """ONNX Runtime's result of what torch.onnx exports."""
    torch: Any = importlib.import_module("torch")
    proto = torch.onnx.export(_exported(model, inputs), dynamo=True, verbose=False).model_proto
    ort: Any = importlib.import_module("onnxruntime")
    session = ort.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    feeds = {entry.name: _numpy(value) for entry, value in zip(session.get_inputs(), inputs, strict=False)}
    return list(session.run(None, feeds))


def inductor_pytorch(model: Any, inputs: tuple[Any, ...], route: str) -> list[Any]:
    """The result of torch.compile."""
    torch: Any = importlib.import_module("torch")
    torch._dynamo.reset()
    with torch.no_grad():
        return [_numpy(each) for each in torch.compile(model, backend="inductor", fullgraph=True)(*(value.clone() for value in inputs))]


SUBJECTS: dict[str, tuple[Callable[[str], Any], Callable[..., list[Any]]]] = {
    "tvm-pytorch": (pytorch_case, tvm_pytorch),
    "tvm-onnx": (onnx_case, tvm_onnx),
    "openvino-pytorch": (pytorch_case, openvino_pytorch),
    "openvino-onnx": (onnx_case, openvino_onnx),
    "onnxruntime-onnx": (onnx_case, onnxruntime_onnx),
    "torch.onnx-pytorch": (pytorch_case, torch_onnx_pytorch),
    "inductor-pytorch": (pytorch_case, inductor_pytorch),
}
"""By subject: how a call becomes a model, and how the compiler runs it."""


def same(expected: Sequence[Any], actual: Sequence[Any], *, narrow: bool = False) -> bool:
    """Whether number, dtypes, shapes and values agree; *narrow* where the compiler says that it computes float64 as float32."""
    if len(expected) != len(actual):
        return False
    for want, got in zip(expected, map(np.asarray, actual), strict=True):
        if want.dtype != got.dtype or want.shape != got.shape:
            return False
        tolerance = _TOLERANCE.get(
            "float32" if narrow and want.dtype == np.float64 else str(want.dtype), 1e-6 if want.dtype.kind in "fc" else 0
        )
        wide = "complex128" if want.dtype.kind == "c" else "float64" if want.dtype.kind not in "iub" else str(want.dtype)
        if not np.allclose(got.astype(wide), want.astype(wide), rtol=tolerance, atol=tolerance, equal_nan=want.dtype.kind not in "iub"):
            return False
    return True


def outcome(subject: str, route: str, call: str, cheat: str | None) -> tuple[str, str]:
    """`right`, `wrong`, `raises` or `left out`, and why."""
    made, run = SUBJECTS[subject]
    try:
        model, inputs, expected = made(call)
        actual = run(model, inputs, route)
    except LeftOutError as error:
        return "left out", str(error)
    except Exception as error:
        return "raises", f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0][:120]}"
    if cheat == "zeros":
        actual = [np.zeros_like(each) for each in expected]
    elif cheat == "wide":
        actual = [each.astype("float64") if each.dtype.kind in "fiub" else each for each in expected]
    return ("right" if same(expected, actual, narrow=subject.startswith("openvino")) else "wrong"), ""


def main() -> None:
    """Prints the outcome of each call of a task that was not run yet; what ends the process is the call after the last line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", type=Path)
    parser.add_argument("--cheat", choices=("zeros", "wide"))
    parser.add_argument("--after", type=int, default=-1, help="begin behind the call of this number")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    task = json.loads(options.task.read_text(encoding="utf-8"))
    for number, each in enumerate(task["calls"]):
        if number > options.after:
            print(json.dumps({"begins": number}), flush=True)
            found, why = outcome(each["subject"], each["route"], each["call"], options.cheat)
            print(json.dumps({"number": number, "outcome": found, "why": why}), flush=True)


if __name__ == "__main__":
    sys.exit(main())
