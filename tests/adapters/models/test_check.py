"""`opera check` names the operator that a compiler gets wrong, and the edge that it gets wrong, in models of real operators."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import xml.etree.ElementTree as xml
from collections.abc import Callable
from pathlib import Path
from typing import Any

import commands
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from parameters import quick

from opera.errors import UserError
from opera.extensions.models import api

SITE = Path(__file__).with_name("site")


def weight(name: str, *shape: int) -> Any:
    """Values that depend on the name alone: in a saturated model, which other draws may make, few faults show."""
    random = np.random.default_rng(list(name.encode()))
    return numpy_helper.from_array((random.standard_normal(shape) * 0.3).astype("float32"), name)


def convolutional(folder: Path) -> Path:
    """Two blocks of convolutions, a shape that is computed, and a head."""
    nodes = [
        helper.make_node("Conv", ["x", "w1", "b1"], ["c1"], name="conv1", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c1"], ["r1"], name="relu1"),
        helper.make_node("Conv", ["r1", "w2"], ["c2"], name="conv2", pads=[1, 1, 1, 1]),
        helper.make_node("Add", ["c2", "r1"], ["a"], name="add"),
        helper.make_node("MaxPool", ["a"], ["p"], name="pool", kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Shape", ["p"], ["shape"], name="shape"),
        helper.make_node("Gather", ["shape", "zero"], ["n"], name="gather"),
        helper.make_node("Concat", ["n", "rest"], ["flat_shape"], name="concat", axis=0),
        helper.make_node("Reshape", ["p", "flat_shape"], ["flat"], name="reshape"),
        helper.make_node("Gemm", ["flat", "w3", "b3"], ["g"], name="head", transB=1),
        helper.make_node("Softmax", ["g"], ["y"], name="softmax"),
    ]
    weights = [
        weight("w1", 4, 3, 3, 3), weight("b1", 4), weight("w2", 4, 4, 3, 3), weight("w3", 5, 64), weight("b3", 5),
        numpy_helper.from_array(np.array([0]), "zero"), numpy_helper.from_array(np.array([-1]), "rest"),
    ]  # fmt: skip
    return saved(folder, nodes, weights, {"x": ["batch", 3, 8, 8]}, {"y": ["batch", 5]})


def saved(folder: Path, nodes: list[Any], weights: list[Any], inputs: dict[str, list[Any]], outputs: dict[str, list[Any]]) -> Path:
    declared = [
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in each.items()] for each in (inputs, outputs)
    ]
    graph = helper.make_graph(nodes, "model", *declared, weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path = folder / "model.onnx"
    onnx.save(model, path)
    return path


Check = Callable[..., tuple[int, dict[str, Any], dict[str, str]]]


@pytest.fixture
def check(tmp_path: Path) -> Check:
    """Checks the model on the faulty compiler; gives the exit code, what is said of the compiler, and the states of nodes by name."""

    def checked(fault: dict[str, Any], *options: str) -> tuple[int, dict[str, Any], dict[str, str]]:
        model = convolutional(tmp_path)
        variables = {"PYTHONPATH": str(SITE), "OPERA_FAULT": json.dumps(fault)}
        done = commands.run(
            "check", str(model), "--compiler", "faulty", "--size", "batch=2", "--json", *options, folder=tmp_path, variables=variables
        )
        (found,) = done.json["compilers"]
        names = [each["name"] for each in done.json["nodes"]]
        return done.code, found, {names[int(number)]: each["state"] for number, each in found["nodes"].items()}

    return checked


def test_a_sound_compiler_is_right_everywhere(check: Check) -> None:
    code, found, states = check({})
    assert (code, found["whole"]["state"], found["edges"]) == (0, "right", [])
    assert set(states.values()) == {"right"}
    assert len(states) == 11
    assert found["compilations"] == 2


@pytest.mark.parametrize("factor", quick([1.0003, 1.1]))
@pytest.mark.parametrize(("operator", "names"), quick([("Gemm", ["head"]), ("Relu", ["relu1"]), ("Softmax", ["softmax"])]))
def test_a_wrong_operator_is_named_however_small_its_fault_is(check: Check, factor: float, operator: str, names: list[str]) -> None:
    code, found, states = check({"operator": operator, "factor": factor})
    assert code == 1
    assert [name for name, state in states.items() if state == "wrong"] == names
    assert found["compilations"] <= 4


def test_operators_that_are_wrong_only_together_are_named_by_their_edge(check: Check) -> None:
    code, found, states = check({"edge": ["Conv", "Add"], "factor": 1.1})
    assert (code, found["whole"]["state"]) == (1, "wrong")
    assert set(states.values()) == {"right"}
    assert found["edges"] == ["c2"]
    assert found["compilations"] <= 16


def test_an_operator_that_cannot_be_compiled_is_named_and_hides_no_other(check: Check) -> None:
    code, found, states = check({"crash": "MaxPool"})
    assert (code, found["whole"]["state"]) == (1, "crash")
    assert {name for name, state in states.items() if state != "right"} == {"pool"}
    assert "no MaxPool here" in next(each["reason"] for each in found["nodes"].values() if each["state"] == "crash")


def test_a_ci_gets_a_case_for_each_node_and_one_for_the_whole_model_and_a_person_a_page(check: Check, tmp_path: Path) -> None:
    check({"operator": "Relu", "factor": 1.1}, "--junit", "result.xml", "--html", "result.html")
    page = (tmp_path / "result.html").read_text(encoding="utf-8")
    assert re.search(r'<th>Relu \(\d\)</th><td class="wrong">', page)
    assert re.search(r'<tr><td>faulty</td><td>Relu relu1</td><td class="wrong">wrong \([^<]*</td>', page)
    assert "http" not in page.replace("http://www.w3.org/", ""), "nothing is fetched"
    (suite,) = xml.parse(tmp_path / "result.xml").getroot()
    assert suite.attrib == {"name": "faulty", "tests": "12", "failures": "2", "errors": "0", "skipped": "0"}
    failed = {case.get("name"): case[0].get("message", "") for case in suite if len(case)}
    assert list(failed) == ["1 Relu relu1", "the whole model"]
    assert failed["1 Relu relu1"].startswith("wrong (")


@pytest.mark.slow
def test_a_model_of_2018_whose_weights_are_inputs_too_is_checked(tmp_path: Path) -> None:
    old = onnx.load(convolutional(tmp_path))
    old.ir_version = 3
    del old.opset_import[:]
    old.opset_import.append(helper.make_opsetid("", 9))
    for each in old.graph.initializer:
        old.graph.input.append(helper.make_tensor_value_info(each.name, each.data_type, each.dims))
    onnx.save(old, tmp_path / "old.onnx")
    for _ in range(2):  # without a workspace, and with one
        arguments = ("check", "old.onnx", "--compiler", "onnxruntime", "--size", "batch=2", "--json")
        done = commands.run(*arguments, folder=tmp_path)
        assert done.code == 0, done.stderr
        assert done.json["compilers"][0]["compilations"] == 2
        (tmp_path / ".opera" / "scratch").mkdir(parents=True, exist_ok=True)


MINE = """
import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.wide = torch.nn.Linear(8, 9_000)
        self.narrow = torch.nn.Linear(9_000, 4)

    def forward(self, x, scale):
        y = torch.softmax(self.narrow(torch.relu(self.wide(x))), -1) * scale
        return y, y.argmax(-1)

class Noise(torch.nn.Module):
    def forward(self, x):
        return x + torch.rand(3)

def net():
    return Net(), (torch.randn(2, 8),), {"scale": torch.tensor(2.0)}

def noise():
    return Noise(), (torch.ones(3),)

def text():
    return "a model"
"""


@pytest.mark.slow  # torch and its exporter in three processes
def test_a_module_of_pytorch_is_exported_and_the_export_is_checked_too(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(MINE)
    done = commands.run("check", "mine:net", "--compiler", "onnxruntime", "--json", folder=tmp_path)
    assert done.code == 0, done.stderr
    assert done.json["exported"]["state"] == "right"
    assert done.json["exported"]["error"] < 1e-5
    assert [each["operator"][8:] for each in done.json["nodes"]] == ["Gemm", "Relu", "Gemm", "Softmax", "Mul", "ArgMax"]
    assert done.json["compilers"][0]["whole"]["state"] == "right"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("mine:noise", "computes other results each time"),
        pytest.param("mine:text", "return (module, args) or (module, args, kwargs)", marks=pytest.mark.slow),
        pytest.param("mine:none", "mine has no function 'none'", marks=pytest.mark.slow),
        pytest.param("other:net", "other cannot be imported", marks=pytest.mark.slow),
        ("gone.onnx", "does not exist; name an .onnx, .keras or .pt2 file, or module:function"),
    ],
)
def test_what_gives_no_model_is_named(tmp_path: Path, name: str, reason: str) -> None:
    (tmp_path / "mine.py").write_text(MINE)
    assert reason in refused(tmp_path, name)


@pytest.mark.slow
def test_a_file_of_keras_is_exported(tmp_path: Path) -> None:
    code = "import keras; keras.Sequential([keras.Input((8,)), keras.layers.Dense(3, activation='tanh')]).save('net.keras')"
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env={**os.environ, "KERAS_BACKEND": "torch"}, check=True)
    assert "give --size batch=N" in refused(tmp_path, "net.keras")
    done = commands.run("check", "net.keras", "--size", "batch=2", "--compiler", "onnxruntime", "--json", folder=tmp_path)
    assert (done.code, done.json["exported"]["state"]) == (0, "right")


@pytest.mark.slow
def test_outputs_that_nothing_uses_are_not_asked_for(tmp_path: Path) -> None:
    """Up to opset 9 the mask of a Dropout is of floats, and OpenVINO gives truth values; a model that leaves it out works."""
    nodes = [helper.make_node("Dropout", ["x"], ["d", "mask"], name="dropout"), helper.make_node("Relu", ["d"], ["y"], name="relu")]
    model = onnx.load(saved(tmp_path, nodes, [], {"x": [2, 3]}, {"y": [2, 3]}))
    model.opset_import[0].version = 9
    onnx.save(model, tmp_path / "dropout.onnx")
    done = commands.run("check", "dropout.onnx", "--compiler", "openvino", "--json", folder=tmp_path)
    assert {each["state"] for each in done.json["compilers"][0]["nodes"].values()} == {"right"}
    assert done.code == 0


def test_python_gets_typed_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = api.check(convolutional(tmp_path), ["onnxruntime"], sizes={"batch": 2})
    assert found.is_clean
    assert [each.compiler for each in found.reports] == ["onnxruntime"]
    assert [node.operator for node in found.nodes][:2] == ["ai.onnx.Conv", "ai.onnx.Relu"]
    assert found.failing == {}
    assert {path.name for path in tmp_path.iterdir()} == {"model.onnx"}
    with pytest.raises(UserError, match="sizes open: batch"):
        api.check(convolutional(tmp_path), ["onnxruntime"])


def test_operators_that_crash_only_together_are_named(check: Check) -> None:
    code, found, states = check({"edge": ["Conv", "Relu"]})
    assert code == 1
    assert found["whole"]["state"] == "crash"
    assert set(states.values()) == {"right"}
    assert found["edges"] == ["c1"]


def of_integers(folder: Path) -> Path:
    """ONNX Runtime computes sums of int64 in float64."""
    nodes = [helper.make_node("Neg", ["x"], ["n"], name="neg"), helper.make_node("ReduceSum", ["n"], ["y"], name="sum", keepdims=0)]
    declared = [[helper.make_tensor_value_info(name, TensorProto.INT64, shape)] for name, shape in (("x", [2]), ("y", []))]
    onnx.save(
        helper.make_model(helper.make_graph(nodes, "model", *declared), opset_imports=[helper.make_opsetid("", 17)], ir_version=8),
        folder / "sum.onnx",
    )
    np.savez(folder / "sum.npz", x=np.array([2**53, 1]))
    return folder / "sum.onnx"


def states_of(folder: Path, *arguments: str) -> dict[str, str]:
    """The states of nodes by name, and of the whole model, on ONNX Runtime."""
    done = commands.run("check", *arguments, "--compiler", "onnxruntime", "--json", folder=folder)
    assert done.code == 1, done.stderr
    (found,) = done.json["compilers"]
    named = {done.json["nodes"][int(key)]["name"]: str(each["state"]) for key, each in found["nodes"].items()}
    return {**named, "": str(found["whole"]["state"])}


def test_a_fault_of_the_kernels_that_give_the_true_values_is_seen(tmp_path: Path) -> None:
    assert states_of(tmp_path, str(of_integers(tmp_path)), "--inputs", "sum.npz") == {"neg": "right", "sum": "wrong", "": "right"}


def test_a_model_that_onnx_runtime_refuses_is_checked_with_the_values_of_the_evaluator(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Relu", ["x"], ["r"], name="relu"),
        helper.make_node("GRU", ["r", "w", "u"], ["y"], name="gru", hidden_size=4, layout=1),
    ]
    model = saved(tmp_path, nodes, [weight("w", 1, 12, 3), weight("u", 1, 12, 4)], {"x": [2, 5, 3]}, {"y": [2, 5, 1, 4]})
    found = states_of(tmp_path, str(model))
    assert (found["relu"], found["gru"]) == ("right", found[""])
    assert found["gru"] in ("declined", "crash")


def refused(folder: Path, *arguments: str) -> str:
    """What is said of a model that cannot be checked."""
    done = commands.run("check", *arguments, "--compiler", "onnxruntime", folder=folder)
    assert (done.code, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr
    return done.stderr


def test_sizes_that_the_model_leaves_open_are_asked_for_by_name(tmp_path: Path) -> None:
    assert "give --size batch=N" in refused(tmp_path, str(convolutional(tmp_path)))
    assert "is not a size" in refused(tmp_path, str(convolutional(tmp_path)), "--size", "batch=two")


@pytest.mark.slow
def test_values_of_inputs_may_be_given(tmp_path: Path) -> None:
    model = convolutional(tmp_path)
    np.savez(tmp_path / "given.npz", x=np.ones((1, 3, 8, 8), np.float32))
    np.savez(tmp_path / "strange.npz", z=np.ones(3))
    done = commands.run("check", str(model), "--inputs", "given.npz", "--compiler", "onnxruntime", folder=tmp_path)
    assert done.code == 0, done.stderr
    assert re.search(r"^the whole model +right", done.stdout, re.MULTILINE)
    assert "has no input 'z'; its inputs are x" in refused(tmp_path, str(model), "--inputs", "strange.npz")


def test_what_is_no_sound_model_is_refused_in_one_sentence(tmp_path: Path) -> None:
    whole = convolutional(tmp_path).read_bytes()
    for name, data in {"cut.onnx": whole[:700], "text.onnx": b"no model", "empty.onnx": b""}.items():
        (tmp_path / name).write_bytes(data)
        assert "is no model of ONNX" in refused(tmp_path, name)
    (tmp_path / "code.pt").write_bytes(b"")
    assert "may hold code" in refused(tmp_path, "code.pt")
    assert "none.keras does not exist" in refused(tmp_path, "none.keras")


@pytest.mark.slow
def test_what_keras_cannot_load_is_refused_in_its_words(tmp_path: Path) -> None:
    (tmp_path / "model.keras").write_bytes(b"")
    assert "Keras cannot load model.keras" in refused(tmp_path, "model.keras")


def test_weights_that_are_missing_and_operators_of_others_are_named(tmp_path: Path) -> None:
    model = convolutional(tmp_path)
    onnx.save(onnx.load(model), tmp_path / "apart.onnx", save_as_external_data=True, location="weights.bin", size_threshold=0)
    assert commands.run("check", "apart.onnx", "--size", "batch=1", "--compiler", "onnxruntime", folder=tmp_path).code == 0
    (tmp_path / "weights.bin").unlink()
    assert "lacks weights" in refused(tmp_path, "apart.onnx", "--size", "batch=1")
    own = saved(tmp_path, [helper.make_node("Mine", ["x"], ["y"], domain="mine.ops")], [], {"x": [2]}, {"y": [2]})
    assert "operators that ONNX does not define: mine.ops.Mine" in refused(tmp_path, str(own))


def test_a_model_that_draws_numbers_has_no_true_result(tmp_path: Path) -> None:
    noise = [helper.make_node("RandomNormalLike", ["x"], ["n"]), helper.make_node("Add", ["x", "n"], ["y"])]
    said = refused(tmp_path, str(saved(tmp_path, noise, [], {"x": [3]}, {"y": [3]})))
    assert "draws random numbers in RandomNormalLike" in said


@pytest.mark.slow
def test_a_graph_inside_of_a_node_is_checked_with_the_whole_model(tmp_path: Path) -> None:
    """The branches read a weight and a value of the graph around them."""
    branches = [
        helper.make_graph([helper.make_node(operator, ["r", "w"], [name])], name, [], [helper.make_tensor_value_info(name, 1, [3])])
        for operator, name in (("Add", "then"), ("Mul", "other"))
    ]
    nodes = [
        helper.make_node("Relu", ["x"], ["r"], name="relu"),
        helper.make_node("ReduceMax", ["r"], ["m"], name="max", keepdims=0),
        helper.make_node("Greater", ["m", "one"], ["c"], name="greater"),
        helper.make_node("If", ["c"], ["y"], name="if", then_branch=branches[0], else_branch=branches[1]),
    ]
    model = saved(tmp_path, nodes, [weight("w", 3), numpy_helper.from_array(np.float32(1), "one")], {"x": [3]}, {"y": [3]})
    done = commands.run("check", str(model), "--compiler", "onnxruntime", "--json", folder=tmp_path)
    assert done.code == 0, done.stderr
    (found,) = done.json["compilers"]
    assert found["whole"]["state"] == "right"
    assert [each["state"] for each in found["nodes"].values()] == ["right", "right", "right", "untested"]
    assert found["nodes"]["3"]["reason"] == "a graph inside of it reads values around it"


@pytest.mark.slow  # test_seeded_faults.py finds real bugs of each kind
def test_a_real_bug_inside_of_a_network_is_named_and_becomes_a_script_and_a_test(tmp_path: Path) -> None:
    """OpenVINO counts windows of a pooling with `ceil_mode=1` that begin beyond the input."""
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], name="conv", pads=[1, 1]),
        helper.make_node("MaxPool", ["c"], ["p"], name="pool", ceil_mode=1, kernel_shape=[1], strides=[2]),
        helper.make_node("Tanh", ["p"], ["y"], name="tanh"),
    ]
    model = saved(tmp_path, nodes, [weight("w", 3, 2, 3)], {"x": [1, 2, 8]}, {"y": [1, 3, "length"]})
    done = commands.run("check", str(model), "--compiler", "openvino", folder=tmp_path)
    assert done.code == 1
    assert re.search(r"^MaxPool \(1\) +wrong$", done.stdout, re.MULTILINE), done.stdout
    assert re.search(r"^Conv \(1\) +right$", done.stdout, re.MULTILINE)
    (command,) = re.findall(r"^  opera (localize .*)", done.stdout, re.MULTILINE)
    found = commands.run(*shlex.split(command), "--json", folder=tmp_path)
    assert found.code == 1, (command, found.stderr)
    (finding,) = found.json["findings"]
    assert finding["reproduced"]
    assert "MaxPool" in commands.run("show", finding["finding"], folder=tmp_path).stdout


def test_an_operator_of_one_value_twice_is_named(tmp_path: Path) -> None:
    """OpenVINO refuses `Where` whose condition is a branch, too; of three different inputs it is right."""
    graph = helper.make_graph(
        [helper.make_node("Where", ["c", "y", "c"], ["z"], name="suspect")],
        "g",
        [helper.make_tensor_value_info(name, TensorProto.BOOL, [4]) for name in ("c", "y")],
        [helper.make_tensor_value_info("z", TensorProto.BOOL, [4])],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 16)], ir_version=10), tmp_path / "net.onnx")
    done = commands.run("check", "net.onnx", "--compiler", "openvino", "--json", folder=tmp_path)
    assert done.code == 1
    (report,) = done.json["compilers"]
    assert {number: each["state"] for number, each in report["nodes"].items()} == {"0": "crash"}


def test_operators_that_fail_only_together_become_a_script_and_a_test(tmp_path: Path) -> None:
    """ONNX Runtime merges `x * (1 / z)` into a division, and forgets the name that an Identity took away."""
    nodes = [
        helper.make_node("Relu", ["x"], ["r"], name="relu"),
        helper.make_node("Identity", ["r"], ["i"], name="identity"),
        helper.make_node("Div", ["one", "x"], ["d"], name="div"),
        helper.make_node("Mul", ["i", "d"], ["m"], name="mul"),
        helper.make_node("Tanh", ["m"], ["y"], name="tanh"),
    ]
    model = saved(tmp_path, nodes, [numpy_helper.from_array(np.float32(1), "one")], {"x": ["batch", 3]}, {"y": ["batch", 3]})
    done = commands.run("localize", str(model), "--compiler", "onnxruntime", "--size", "batch=2", folder=tmp_path)
    assert done.code == 1, done.stderr
    assert "crash only together: Identity identity, Div div, Mul mul" in done.stdout
    (script,) = re.findall(r"^ +(.*\.py) shows it$", done.stdout, re.MULTILINE)
    text = (tmp_path / script).read_text(encoding="utf-8")
    assert re.findall(r"= (\w+) \(", text) == ["Identity", "Div", "Mul"]
    (folder,) = re.findall(r"^1 test in (.*), marked xfail", done.stdout, re.MULTILINE)
    tests = subprocess.run([sys.executable, "-m", "pytest", "-q", folder], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "1 xfailed" in tests.stdout, tests.stdout


def test_a_sound_model_has_nothing_to_localize(tmp_path: Path) -> None:
    model = convolutional(tmp_path)
    done = commands.run("localize", str(model), "--compiler", "onnxruntime", "--size", "batch=2", "--json", folder=tmp_path)
    assert done.code == 0, done.stderr
    assert (done.json["schema"], done.json["findings"], done.json["tests"]) == ("localize/1", [], None)


@pytest.mark.slow
@pytest.mark.parametrize("compiler", quick(["openvino", "tvm"]))
def test_a_step_of_a_quantised_model_is_no_fault(tmp_path: Path, compiler: str) -> None:
    """Rounding to 256 steps makes a whole step of the last bit of a float, in a few of many thousand elements."""
    nodes, weights, value = [], [], "x"
    for index in range(4):
        weights += [weight(f"w{index}", 8, 8 if index else 3, 3, 3), numpy_helper.from_array(np.float32(0.02), f"s{index}")]
        weights.append(numpy_helper.from_array(np.int8(0), f"z{index}"))
        scaled = [f"s{index}", f"z{index}"]
        nodes += [
            helper.make_node("Conv", [value, f"w{index}"], [f"c{index}"], name=f"conv{index}", pads=[1, 1, 1, 1]),
            helper.make_node("QuantizeLinear", [f"c{index}", *scaled], [f"q{index}"], name=f"q{index}"),
            helper.make_node("DequantizeLinear", [f"q{index}", *scaled], [f"d{index}"], name=f"d{index}"),
        ]
        value = f"d{index}"
    nodes.append(helper.make_node("Identity", [value], ["y"], name="out"))
    model = saved(tmp_path, nodes, weights, {"x": [1, 3, 48, 48]}, {"y": [1, 8, 48, 48]})
    done = commands.run("check", str(model), "--compiler", compiler, folder=tmp_path)
    assert done.code == 0, done.stdout
