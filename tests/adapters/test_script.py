"""Scripts of hostile corpora: a text is a literal in them, or there is no script."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator

from opera.difftest import messages
from opera.errors import UserError
from opera.instance import Argument, Call, Device, DType, Enum, Instance, Kind, Named, Tensor
from opera.models.template import PythonSource
from opera.oracles.verdict import Stage, Verdict
from opera.report import reproducer
from opera.report.reproducer import objection
from opera.store import StoredResult
from opera.templates.keras import source as keras_source
from opera.templates.onnx.model import OnnxTemplate
from opera.templates.onnx.source import model_source
from opera.templates.pytorch import source as pytorch_source
from opera.templates.pytorch.model import PyTorchTemplate
from opera.templates.tensorflow import source as tensorflow_source

NAMES = [
    'a"b', "a'b", "a\\b", "a\\", "a\nb", 'a"""b', "a'''b", '"', "\\", "a\rb", "a\x0cb", "a{b}", "a%sb", "ü", "\U0001f600", "a b", "#", "",
    '": 0}; raise SystemExit("run"); {"', '"); raise SystemExit("run"); ("', "x: None",
]  # fmt: skip
X = Tensor((2,), "float32", np.array([1, 2], "float32").tobytes())
CODE = "raise SystemExit('run')"
RESULT = StoredResult(
    "test", "instance", "onnxruntime", "onnx", None, "runtime", 0, Verdict.CRASH, detail={"failure": {"type": "E", "message": "message"}}
)


def node(*names: str) -> Instance:
    call = tuple(Argument(name, X) for name in names)
    return Instance("onnx", "ai.onnx.Sum", Kind.NODE, (), call, (("opset", 13), ("outputs", [True])))


def rendered(source: PythonSource, result: StoredResult = RESULT, note: str = "", **versions: str) -> str:
    answer = messages.ModelSource(list(source.imports), source.text, source.expected)
    case = reproducer.ScriptCase(result, {"context": [["opset", 13]]}, "key", note)
    return reproducer.render(lambda *_: answer, case, {"library": versions})


@pytest.mark.parametrize("name", [name for name in NAMES if name], ids=repr)
def test_an_onnx_input_of_any_name_reproduces_as_any_other(name: str) -> None:
    model = OnnxTemplate().build(node(name, "other"), "key", 0)
    script = rendered(model.source("runtime"))
    names: dict[str, Any] = {}
    exec(
        script.replace("import onnxruntime as ort\n", "").partition("session = ")[0],
        names,
    )
    assert [entry.name for entry in names["model"].graph.input] == [name, "other"]
    np.testing.assert_array_equal(ReferenceEvaluator(names["model"]).run(None, names["inputs"])[0], [2, 4])


@pytest.mark.parametrize(("form", "opset", "converts"), [("runtime", 13, True), ("runtime@16", 16, True), ("runtime@21", 21, False)])
def test_a_script_for_iree_converts_by_the_opset_that_the_model_declares(form: str, opset: int, converts: bool) -> None:
    """And not by that at which the instance was recorded."""
    call = (Argument("A", X), Argument("B", X))
    model = OnnxTemplate().build(Instance("onnx", "ai.onnx.Less", Kind.NODE, (), call, (("opset", 28), ("outputs", [True]))), "key", 0)
    script = rendered(model.source(form), replace(RESULT, compiler="iree", form=form))
    assert f'make_opsetid("", {opset})' in script
    assert ("convert_version(model, 17)" in script) is converts


def test_a_script_compares_both_parts_of_complex_numbers() -> None:
    difference: Any = {"kind": "values", "output": 0, "expected": "0.0", "actual": "2.0", "dtype": "complex64"}
    result = replace(RESULT, verdict=Verdict.INCONSISTENT, detail={"difference": difference})
    script = rendered(PythonSource((), "inputs = {}", "expected = [np.zeros(1, np.complex64)]"), result)
    comparison = "for want, got" + script.partition("for want, got")[2]
    names: dict[str, Any] = {"np": np, "expected": [np.zeros(1, np.complex64)], "actual": [np.array([2j], np.complex64)]}
    with pytest.raises(AssertionError, match=r"2\.j"):
        exec(comparison, names)


@pytest.mark.parametrize("text", NAMES, ids=repr)
def test_what_a_script_says_of_itself_is_its_docstring_and_nothing_else(text: str) -> None:
    source = OnnxTemplate().build(node("a", "b"), "key", 0).source("runtime")
    detail = {"failure": {"type": text or "E", "message": text}}
    result = replace(RESULT, converter=f"{text}{CODE}", detail=detail)
    script = rendered(source, result, f"{text}\n{CODE}", **{f"onnx{text}": f"1{text}\n{CODE}"})
    first, *rest = ast.parse(script).body
    assert isinstance(first, ast.Expr)
    assert isinstance(first.value, ast.Constant)
    assert CODE in first.value.value
    assert "SystemExit" not in "".join(map(ast.unparse, rest))


@pytest.mark.parametrize(
    "text",
    [
        "import subprocess", "from os import system", "x = __import__('os')", "x = ().__class__.__bases__", "x = [].append.__self__",
        "x = torch.hub.load('a', 'b')", "x = torch.os.system('a')", "x = torch.load1", "x = torch.hub.load1", "x = torch.float32.__class__",
        "x = np.load('a')", "x = onnx.load('a')", "x = onnx.numpy_helper", "x = helper.os", "x = base64.sys", "x = eval('1')",
        "x = open('a')", "x = keras.utils.get_file('a')", "x = tf.io.read_file('a')", "x = lambda: exit()", "@print\nclass A: pass",
        "x = f'{exit()}'", "torch = 1\nx = torch.hub", "x = ()) (", "x = '\x00'",
    ],
    ids=repr,
)  # fmt: skip
@pytest.mark.parametrize("library", ["pytorch", "onnx", "keras", "tensorflow"])
def test_a_script_that_names_anything_foreign_is_not_written(text: str, library: str) -> None:
    assert objection(f'"""a"""\n{text}\n', "a", text, library) is not None


@pytest.mark.parametrize("script", ["x = 1", '"""b"""', '"""a""" + exit()', 'f"""a"""', '"""a"""; (', "", '("a", 1)'], ids=repr)
def test_a_script_that_does_not_say_what_it_shows_is_not_written(script: str) -> None:
    assert objection(script, "a", "", "pytorch") is not None


def test_the_user_is_told_that_no_script_was_written() -> None:
    with pytest.raises(
        UserError, match=r"no script was written for test, because the script names __import__; `opera show test` has the facts"
    ):
        rendered(PythonSource((), "model = inputs = __import__('os')", "expected = []"))


HOSTILE = f'a"); {CODE}; ("'


def call(api: str, *arguments: Argument, **context: Any) -> Instance:
    return Instance("pytorch", api, Kind.FUNCTION, call=arguments, context=tuple(context.items()))


@pytest.mark.parametrize(
    "instance",
    [
        call(f"torch.relu); {CODE}; (", Argument("x", X)),
        call("torch.relu", Argument("x", Named(f"torch.relu); {CODE}; ("))),
        call("torch.relu", Argument("x", Enum("torch.A", f"B); {CODE}; ("))),
        call("torch.relu", Argument("x", Enum(f"torch.A); {CODE}; (", "B"))),
        call("torch.relu", Argument("x", Call(f"torch.relu); {CODE}; (", ()))),
        call("torch.relu", Argument("x", DType(f"float32); {CODE}; ("))),
        call("torch.relu", Argument(f"x=1); {CODE}; f(y", 1, keyword=True)),
        call("torch.relu", Argument("class", 1, keyword=True)),
        call("torch.relu", Argument("x", Call("torch.relu", ((f"x=1); {CODE}; f(y", 1),)))),
        call("torch.relu", Argument("x", {HOSTILE: HOSTILE})),
        call("torch.relu", Argument("x", HOSTILE)),
        call("torch.relu", Argument("x", HOSTILE.encode())),
        call("torch.relu", Argument("x", Device(HOSTILE))),
        call("torch.relu", training=f"True); {CODE}; ("),
        call("torch.relu", parameters=DType(f"float32); {CODE}; (")),
        call("torch.relu", floatx=HOSTILE, dtype_policy=HOSTILE, image_data_format=HOSTILE),
    ],
    ids=repr,
)
@pytest.mark.parametrize("library", ["pytorch", "keras", "tensorflow"])
def test_a_hostile_text_is_a_literal_or_an_error(instance: Instance, library: str) -> None:
    try:
        if library == "pytorch":
            text = pytorch_source.module_source(instance, [], [], seed=0, leaves=None, in_place=False, lazy=False, converts=False)
        elif library == "keras":
            text, _ = keras_source.model_source(instance, [], [], 0)
        else:
            text, _ = tensorflow_source.module_source(instance, [], [], texts=True, free=0, shapes=[])
    except ValueError:  # no name: there is no text
        return
    names = {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
    assert "SystemExit" not in names


def test_a_keyword_that_is_no_name_reproduces() -> None:
    instance = call("torch.nn.functional.pad", Argument("input", X), Argument("pad", (1, 1), keyword=True))
    assert "pad=(1, 1)" in PyTorchTemplate().build(instance, "key", 0).source("runtime").text
    odd = replace(instance, api="torch.nn.ParameterDict", call=(Argument("input", X), Argument("odd name", 1, keyword=True)))
    given = pytorch_source.LaidOut(np.ones(2, "float32"), None)
    text = pytorch_source.module_source(odd, [given], [], seed=0, leaves=None, in_place=False, lazy=False, converts=False)
    assert "**{'odd name': 1}" in text


@pytest.mark.parametrize(
    ("api", "second", "text"),
    [
        ("torch.Tensor.__sub__", X, "x0 - x1"),
        ("torch.Tensor.__rsub__", 2.5, "2.5 - x0"),
        ("torch.Tensor.__rsub__", -2.5, "(-2.5) - x0"),
        ("torch.Tensor.__rpow__", -2, "(-2) ** x0"),
        ("torch.Tensor.__rmatmul__", X, "x1 @ x0"),
        ("torch.Tensor.__rshift__", 1, "x0 >> 1"),
        ("torch.Tensor.__rrshift__", 9, "9 >> x0"),
        ("torch.Tensor.__getitem__", -1, "x0[-1]"),
        ("torch.Tensor.__getitem__", (..., slice(0, 1)), "x0[..., 0:1]"),
        ("torch.Tensor.__getitem__", slice(None, None, 2), "x0[::2]"),
        ("torch.Tensor.__getitem__", (slice(1, None), None), "x0[1:, None]"),
        ("torch.Tensor.__eq__", X, "x0 == x1"),
    ],
)
def test_a_script_writes_operators_as_a_person_does(api: str, second: Any, text: str) -> None:
    numbers = Tensor((2,), "int64", np.array([1, 2]).tobytes()) if "shift" in api else X
    model = PyTorchTemplate().build(call(api, Argument("self", numbers), Argument("other", second)), "key", 0)
    source = model.source("runtime")
    assert f"return {text}" in source.text
    names: dict[str, Any] = {}
    exec("\n".join(source.imports) + "\n" + source.text + "\n" + source.expected, names)
    for expected, outputs in zip(names["expected"], model.reference().outputs, strict=True):
        np.testing.assert_array_equal(expected, outputs)
    assert "manual_seed" not in source.text, "a call of a function draws no parameters"


SQUARE = Tensor((2, 2), "float32", np.array([2, 1, 1, 2], "float32").tobytes())
BATCH = Tensor((1, 2, 2), "float32", np.array([2, 1, 1, 2], "float32").tobytes())


def class_of(api: str, *init: Argument) -> Instance:
    return Instance("pytorch", api, Kind.MODULE, init, (Argument("input", BATCH),))


@pytest.mark.parametrize(
    ("instance", "has", "lacks"),
    [
        (call("torch.linalg.eigh", Argument("A", SQUARE)), ["return tuple(torch.linalg.eigh(x0))"], ["tree_leaves", "manual_seed"]),
        (
            class_of("torch.nn.LSTM", Argument("input_size", 2), Argument("hidden_size", 1)),
            ["return (y[0], y[1][0], y[1][1])", "torch.manual_seed"],
            ["tree_leaves"],
        ),
        (class_of("torch.nn.ReLU"), ["self.operator(x0)"], ["manual_seed"]),
        (class_of("torch.nn.Linear", Argument("in_features", 2), Argument("out_features", 1)), ["torch.manual_seed(0)"], []),
    ],
    ids=["tuple", "nested", "nothing-drawn", "weights"],
)
def test_a_script_says_no_more_than_it_must(instance: Instance, has: list[str], lacks: list[str]) -> None:
    model = PyTorchTemplate().build(instance, "key", 0)
    source = model.source("runtime")
    names: dict[str, Any] = {}
    exec("\n".join(source.imports) + "\n" + source.text + "\n" + source.expected, names)
    for expected, outputs in zip(names["expected"], model.reference().outputs, strict=True):
        np.testing.assert_array_equal(expected, outputs)
    assert [each for each in has if each not in source.text] == []
    assert [each for each in lacks if each in source.text + str(source.imports)] == []


def test_the_compiler_gets_inputs_that_the_eager_call_did_not_write_to() -> None:
    ones = Tensor((2,), "float32", np.ones(2, "float32").tobytes())
    arguments = (Argument("input", SQUARE), Argument("running_mean", ones), Argument("running_var", ones))
    instance = call("torch.nn.functional.batch_norm", *arguments, Argument("training", True, keyword=True))
    source = PyTorchTemplate().build(instance, "key", 0).source("runtime")
    names: dict[str, Any] = {}
    exec("\n".join(source.imports) + "\n" + source.text + "\n" + source.expected, names)
    np.testing.assert_array_equal(names["inputs"][1].numpy(), [1, 1])


CRASHING = PythonSource(("import onnx",), "model = None\ninputs = {}", "expected = [np.array([1.8939530849456787], np.float32)]")


def test_the_script_of_a_crash_says_which_result_is_right() -> None:
    script = rendered(CRASHING)
    assert "expected = [np.array([1.89395], np.float32)]" in script
    assert 'assert len(actual) == len(expected), f"expected' in script
    assert "np.testing.assert_allclose(got, want, rtol=" in script


def test_the_script_of_a_crash_says_nothing_of_a_result_that_is_never_the_same() -> None:
    answer = messages.ModelSource([], CRASHING.text, CRASHING.expected, repeatable=False)
    script = reproducer.render(lambda *_: answer, reproducer.ScriptCase(RESULT, {"context": [["opset", 13]]}, "key"), {})
    assert "expected" not in script


def test_a_wrong_signature_has_a_script_only_where_nothing_runs() -> None:
    answer = messages.ModelSource([], CRASHING.text, CRASHING.expected)
    difference: Any = {"kind": "shape", "output": 0, "expected": "[1]", "actual": "[2]", "dtype": "float32", "stated": True}
    result = replace(RESULT, verdict=Verdict.INCONSISTENT, stage=Stage.COMPARE, detail={"difference": difference})
    case = reproducer.ScriptCase(result, {"context": [["opset", 13]]}, "key")
    with pytest.raises(UserError, match="its result is right, and the signature that the compiled model states is wrong"):
        reproducer.render(lambda *_: answer, case, {})
    case = replace(case, result=replace(result, compiler="tensorrt"))
    script = reproducer.render(lambda *_: answer, case, {"compiler": {"tensorrt_rtx_bindings": "1.7", **messages.BUILDS_ONLY}})
    compile(script, "script", "exec")
    assert "import tensorrt_rtx_bindings as trt" in script
    assert "network.get_output" in script
    assert "assert got.shape == want.shape" in script


def test_the_script_of_a_crash_compares_no_results_where_nothing_runs() -> None:
    answer = messages.ModelSource([], CRASHING.text, CRASHING.expected)
    case = reproducer.ScriptCase(replace(RESULT, compiler="tensorrt", stage=Stage.CODEGEN), {"context": [["opset", 13]]}, "key")
    script = reproducer.render(lambda *_: answer, case, {"compiler": dict(messages.BUILDS_ONLY)})
    compile(script, "script", "exec")
    assert "build_serialized_network" in script
    assert "expected" not in script


def test_the_script_of_a_pytorch_finding_of_tensorrt_exports_the_module_and_feeds_its_shapes() -> None:
    answer = messages.ModelSource(["import torch"], "model = torch.nn.Identity()\ninputs = (torch.ones(2),)", CRASHING.expected)
    result = replace(RESULT, compiler="tensorrt", frontend="pytorch", stage=Stage.CODEGEN)
    script = reproducer.render(
        lambda *_: answer, reproducer.ScriptCase(result, {"context": []}, "key"), {"compiler": dict(messages.BUILDS_ONLY)}
    )
    compile(script, "script", "exec")
    assert "exported = torch.onnx.export(" in script
    assert "parser.parse(exported.model_proto.SerializeToString())" in script
    assert "inputs = {entry.name: value.contiguous().numpy() for entry, value in zip(exported.model_proto.graph.input, inputs)}" in script


@pytest.mark.parametrize("text", ["expected = [[np.ones(2)]]", "expected = [None]", "expected = [np.array([1], ml_dtypes.int4)]"])
def test_the_script_of_a_crash_compares_plain_arrays_only(text: str) -> None:
    assert "np.testing" not in rendered(replace(CRASHING, expected=text))


def test_numbers_stay_as_they_are_where_the_tolerance_is_narrow() -> None:
    text = "expected = [np.array([0.12345678901, 57344.0], np.float64)]"
    assert reproducer.rounded(text, 1e-3) == text
    assert reproducer.rounded(text.replace("64)", "32)"), 1e-7) == text.replace("64)", "32)")
    assert reproducer.rounded(text.replace("64)", "32)"), 1e-3) == "expected = [np.array([0.123457, 57344.0], np.float32)]"


def test_the_script_of_an_exporter_names_the_exporter_and_its_version() -> None:
    script = rendered(CRASHING, replace(RESULT, exporter="torch.onnx"), onnxscript="0.5.6")
    assert script.startswith('"""torch.onnx (exporter, before onnxruntime): ')
    assert "onnxscript 0.5.6" in script


@pytest.mark.parametrize("attribute", ["name", "domain", "class", 'a"); b("', "op_type"])
def test_an_attribute_that_a_call_cannot_give_is_written_in_another_way(attribute: str) -> None:
    made = onnx.helper.make_node("Relu", ["x"], ["y"])
    made.attribute.append(onnx.helper.make_attribute(attribute, 3))
    values = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [2]) for name in "xy"]
    proto = onnx.helper.make_model(onnx.helper.make_graph([made], "single_operator", values[:1], values[1:]))
    text = model_source(proto, {"x": np.ones(2, "float32")})
    names: dict[str, Any] = {"onnx": onnx, "np": np, "helper": onnx.helper, "lzma": __import__("lzma"), "base64": __import__("base64")}
    exec(text, names)
    assert [(each.name, each.i) for each in names["model"].graph.node[0].attribute] == [(attribute, 3)]


def test_every_script_that_was_published_could_be_written_again() -> None:
    published = sorted(Path(__file__).parents[2].glob("data/findings/*/*.py"))
    assert published
    for path in published:
        script = path.read_text()
        assert objection(script, ast.literal_eval(ast.unparse(ast.parse(script).body[0])), "", "onnx") is None
