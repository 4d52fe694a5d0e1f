"""Programs are the same with and without the operator tables that OPERA keeps for torch, and torch's own state is left as it was."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from instances import counting, tensor, torch_call

from opera.cli.extract import command as extract
from opera.instance import Instance
from opera.models import torch_tables
from opera.store import Corpus
from opera.store.database import open_workspace
from opera.templates.pytorch.model import PyTorchModel

torch: Any = importlib.import_module("torch")
EXPORTED: Any = importlib.import_module("torch.export.exported_program")
ATEN: Any = torch.ops.aten
CIA: Any = torch._C.DispatchKey.CompositeImplicitAutograd
SEED = 0
OPERATORS = (
    torch_call("torch.nn.functional.softplus", counting(3, 4)),
    torch_call("torch.nn.functional.conv2d", counting(1, 2, 5, 5), counting(3, 2, 3, 3), padding="same"),
    torch_call("torch.nn.functional.linear", counting(2, 3), counting(4, 3)),
    torch_call("torch.nn.functional.scaled_dot_product_attention", counting(1, 2, 3, 4), counting(1, 2, 3, 4), counting(1, 2, 3, 4)),
    torch_call("torch.nn.functional.interpolate", counting(1, 1, 4, 4), scale_factor=2, mode="bilinear"),
    torch_call("torch.nn.functional.rms_norm", counting(2, 3), normalized_shape=(3,)),
    torch_call("torch.kron", counting(2, 3), counting(4, 3)),
    torch_call("torch.var", counting(3, 4), dim=0, correction=2),
    torch_call("torch.trapezoid", counting(3, 4)),
    torch_call("torch.cumulative_trapezoid", counting(3, 4)),
    torch_call("torch.tensor_split", counting(4, 4), indices_or_sections=2),
    torch_call("torch.nn.functional.one_hot", tensor([0, 2, 1], "int64"), num_classes=3),
    torch_call("torch.masked_select", counting(2, 2), tensor([[True, False], [False, True]], "bool")),
)
"""Composite operators, operators that a table keeps whole, others, and one whose shape depends on data."""


@pytest.fixture(scope="module", autouse=True)
def kept() -> None:
    assert torch_tables.keep() == []
    torch_tables.keep_onnx_functions()


def exported(instance: Instance) -> Any:
    model = PyTorchModel(instance, "key", SEED)
    return torch.export.export(model.module, tuple(model.fresh_tensors()), strict=False)


def decomposed(program: Any) -> str:
    return text_of(program.run_decompositions())


def preserved(program: Any) -> str:
    return text_of(program.run_decompositions({}))


def as_openvino(program: Any) -> str:
    """By the table with which OpenVINO begins its conversion."""
    table = torch.export.default_decompositions()
    for operator in importlib.import_module("openvino.frontend.pytorch.torchdynamo.export_decompositions").ops_to_not_decompose():
        table.pop(operator, None)
    return text_of(program.run_decompositions(table))


def as_onnx(program: Any) -> str:
    return str(torch.onnx.export(program, dynamo=True, verbose=False).model_proto)


def text_of(program: Any) -> str:
    """Everything of a program that a compiler may read."""
    nodes = [f"{node.format_node()} {node.meta.get('val')}" for node in program.graph.nodes]
    constants = [f"{name} {array_of(value)}" for held in (program.constants, program.state_dict) for name, value in sorted(held.items())]
    return "\n".join([program.graph_module.code, *nodes, str(program.graph_signature), *constants])


def array_of(value: Any) -> object:
    return (value.dtype, tuple(value.shape), value.detach().contiguous().flatten().tolist()) if isinstance(value, torch.Tensor) else value


def outcome(instance: Instance, make: Callable[[Any], str]) -> str:
    """What *make* gives, or what it raises, without addresses in memory."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return make(exported(instance))
        except Exception as error:
            return re.sub(r"\b0x[0-9a-f]+|(?<=:)\d{9,}", "0x", f"{type(error)}: {error}")


@pytest.mark.slow
@pytest.mark.parametrize("make", [decomposed, preserved, as_openvino, as_onnx])
def test_programs_are_the_same(make: Callable[[Any], str]) -> None:
    own: dict[Instance, str] = {}
    with torch_tables.without():
        own = {instance: outcome(instance, make) for instance in OPERATORS}
    assert sum("Error" in text.partition("\n")[0] for text in own.values()) <= 2, own
    for _ in range(2):  # the second time by tables that are all kept
        assert {instance: outcome(instance, make) for instance in OPERATORS} == own


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_programs_of_a_whole_corpus_are_the_same(tmp_path: Path) -> None:
    """Every instance of PyTorch's operator database, at one dtype of each kind, by the two tables of campaigns; one in ten as ONNX too.

    `OPERA_EVERY` takes one instance in so many.
    """
    options = ("dtypes=float32,int64,bool", "variants=")
    arguments = ["--lib", "pytorch", "--source", "opinfo", *(part for option in options for part in ("--option", option)), "-q"]
    extract.main([*arguments, "--workspace", str(tmp_path)], standalone_mode=False)
    different: list[str] = []
    compared = 0
    with open_workspace(tmp_path, write=False) as space:
        chosen = islice(Corpus(space).instances("pytorch"), 0, None, int(os.environ.get("OPERA_EVERY", "1")))
        for index, (key, instance) in enumerate(chosen):
            for make in (decomposed, as_openvino, *([as_onnx] if index % 10 == 0 else [])):
                with torch_tables.without():
                    own = outcome(instance, make)
                compared += not own.startswith("<class")
                if outcome(instance, make) != own:
                    different.append(f"{make.__name__} {instance.api} {key}")
    print(f"{compared:,} programs compared")
    assert compared > 100
    assert different == []


def state_of_torch() -> list[object]:
    rules: Mapping[Any, Any] = importlib.import_module("torch._subclasses.fake_impls").op_implementations_dict
    operators = sorted(EXPORTED._collect_all_valid_cia_ops(), key=str)
    return [(each, dict(each.py_kernels), each in rules) for each in operators]


def test_torch_is_left_as_it_was_also_after_an_error() -> None:
    program = exported(OPERATORS[0])
    program.run_decompositions()
    before = state_of_torch()
    program.run_decompositions()
    assert state_of_torch() == before
    with suppress(KeyboardInterrupt), EXPORTED._override_composite_implicit_decomp({ATEN.linear.default: print}):
        assert ATEN.linear.default.py_kernels[CIA] is print
        raise KeyboardInterrupt
    assert state_of_torch() == before


def test_an_operator_that_is_registered_later_is_seen() -> None:
    found = EXPORTED._collect_all_valid_cia_ops()
    library: Any = torch.library.Library("opera_late", "DEF")
    library.define("twice(Tensor x) -> Tensor")
    library.impl("twice", _doubled, "CompositeImplicitAutograd")
    try:
        twice = torch.ops.opera_late.twice.default
        assert EXPORTED._collect_all_valid_cia_ops() == found | {twice}
        module = torch.nn.Module()
        module.forward = _twice
        program = torch.export.export(module, (torch.ones(2),), strict=False)
        assert "aten.add" in decomposed(program)
        assert "opera_late.twice" in preserved(program)
    finally:
        library._destroy()
    assert EXPORTED._collect_all_valid_cia_ops() == found


def _doubled(x: Any) -> Any:
    return x + x


def _twice(x: Any) -> Any:
    return torch.ops.opera_late.twice(x)


def test_a_kernel_that_is_registered_later_is_used() -> None:
    """What was remembered of an operator holds only as long as its kernels are the same."""
    operator, key = ATEN.linear.default, torch._C.DispatchKey.CPU
    exported(OPERATORS[0]).run_decompositions()
    assert key not in operator.py_kernels
    operator.py_impl(key)(print)
    try:
        with EXPORTED._override_composite_implicit_decomp({operator: max}):
            assert operator.py_kernels[key] is print
        assert operator.py_kernels[key] is print
    finally:
        del operator.py_kernels[key]
        operator._dispatch_cache.clear()
    with EXPORTED._override_composite_implicit_decomp({operator: max}):
        assert operator.py_kernels[key] is not print


def test_a_registry_can_be_added_to() -> None:
    """What a caller registers in its registry of ONNX functions is in no other."""
    registry: Any = importlib.import_module("torch.onnx._internal.exporter._registration").ONNXRegistry
    one = registry.from_torchlib(opset_version=18)
    one.functions["aten::relu"].clear()
    one.functions["new"] = []
    other = registry.from_torchlib(opset_version=18)
    assert other.functions["aten::relu"]
    assert "new" not in other.functions
    assert (other.opset_version, registry.from_torchlib(opset_version=23).opset_version) == (18, 23)


@pytest.mark.slow
def test_nothing_of_another_torch_is_replaced() -> None:
    """Each part is left alone where its own functions look different, and is named."""
    script = (
        "import torch.export.exported_program as program\n"
        "from torch.onnx._internal.exporter._registration import ONNXRegistry\n"
        "from opera.models import torch_tables\n"
        "own = program._override_composite_implicit_decomp, program._collect_all_valid_cia_ops\n"
        "torch_tables._KNOWN = torch_tables._KNOWN_REGISTRIES = frozenset()\n"
        "print(*torch_tables.keep(), sep='\\n')\n"
        "torch_tables.keep_onnx_functions()\n"
        "assert own == (program._override_composite_implicit_decomp, program._collect_all_valid_cia_ops)\n"
        "assert isinstance(vars(ONNXRegistry)['from_torchlib'], classmethod)\n"
    )
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.splitlines()
    assert [line.partition(":")[0] for line in found] == [
        "each decomposition of an exported program takes longer",
        "each export by torch.onnx takes longer",
    ]
    assert all(str(torch.__version__) in line for line in found)
