"""Calls of PyTorch inside larger graphs: their models are right, real compilers take them, and a script shows each."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from real_campaigns import filled, run

from opera.extensions.generators.embedded.torch_model import SETTINGS
from opera.extract.description import INSTRUMENTATION
from opera.instance import decode_instance
from opera.models.template import Invalid
from opera.oracles.verdict import Verdict
from opera.report.reproducer import foreign_names
from opera.templates.pytorch.model import PyTorchModel, PyTorchTemplate

X = np.random.default_rng(0).normal(size=(1, 2, 5, 5)).astype("float32")
GRAPHS = [(kind, *settings) for kind in SETTINGS for settings in SETTINGS[kind] if kind != "channels"]
CHANNELS = ("channels", "uint8", 128, 0)
CALLS: dict[str, dict[str, Any]] = {
    "torch.nn.functional.conv2d": {"input": X, "weight": X[:, :, :3, :3], "bias": X[0, 0, 0, :1]},
    "torch.sigmoid": {"input": X},
    "torch.topk": {"input": X, "k": 2},
    "torch.sub": {"input": X, "other": X[:, ::-1]},
}


def document(api: str, *graph: Any) -> dict[str, Any]:
    call = [{"name": name, "value": _value(value)} for name, value in CALLS[api].items()]
    made = {"schema": "instance/1", "library": "pytorch", "api": api, "call": call, "outcome": "returned"}
    return {**made, "kind": "embedded", "context": [["embedding", list(graph)]]} if graph else {**made, "kind": "function"}


def _value(value: Any) -> Any:
    if not isinstance(value, np.ndarray):
        return value
    return {"tensor": {"shape": list(value.shape), "dtype": "float32", "data": base64.b64encode(value.tobytes()).decode()}}


def model(api: str, *graph: Any) -> PyTorchModel:
    return PyTorchTemplate().build(decode_instance(document(api, *graph)), "key", 0)


@pytest.mark.parametrize("api", CALLS)
def test_a_branch_gives_what_the_call_gives_and_a_loop_calls_twice(api: str) -> None:
    plain = model(api).reference().outputs
    for ours, theirs in zip(model(api, "branch").reference().outputs, plain, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    if api == "torch.sub":
        last = model(api, "loop", "carried").reference().outputs
        np.testing.assert_allclose(
            np.asarray(last[0]), np.asarray(plain[0]) - X, rtol=1e-5
        )  # (x - y) - x: the last state is the second input
        return
    twice = 1 / (1 + np.exp(-np.asarray(plain[0]))) if api == "torch.sigmoid" else np.asarray(plain[0])
    for how in ((), ("carried",)):
        np.testing.assert_allclose(np.asarray(model(api, "loop", *how).reference().outputs[0]), twice, rtol=1e-5)
    never = np.asarray(model(api, "loop", "none").reference().outputs[0])
    np.testing.assert_array_equal(never, X if api == "torch.sigmoid" else np.zeros_like(plain[0]))


def test_their_texts_are_what_a_script_may_have_and_give_the_same(tmp_path: Path) -> None:
    """One process runs all scripts, as it is PyTorch's import that takes long."""
    scripts, wanted = list[Path](), list[Any]()
    for api, graph in product(("torch.nn.functional.conv2d",), GRAPHS):
        made = model(api, *graph)
        found = made.source("runtime")
        assert foreign_names(f"{found.text}\n{found.expected}", "pytorch") is None
        script = tmp_path / f"{len(scripts)}.py"
        saved = f"np.savez({str(script.with_suffix('.npz'))!r}, *expected)"
        script.write_text("\n".join(["import numpy as np", *found.imports, "", found.text, found.expected, saved]))
        scripts.append(script)
        wanted.append(made.reference().outputs)
    runs = "import runpy, sys\nfor each in sys.argv[1:]:\n    runpy.run_path(each)"
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", runs, *scripts], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for script, outputs in zip(scripts, wanted, strict=True):
        for ours, theirs in zip(np.load(script.with_suffix(".npz")).values(), outputs, strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_weights_have_a_scale_for_each_place_along_an_axis_of_theirs() -> None:
    made = model("torch.nn.functional.conv2d", "channels", "uint8", 128, -1)
    found, names = made.source("runtime"), {"np": np}
    assert foreign_names(f"{found.text}\n{found.expected}", "pytorch") is None
    assert "x0 = torch.ops.quantized_decomposed.dequantize_per_tensor(" in found.text
    assert "self.c2, self.c3, 3, -128, 127, torch.int8)" in found.text
    exec("\n".join([*found.imports, found.text, found.expected]), names)
    for ours, theirs in zip(names["expected"], made.reference().outputs, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_an_axis_that_the_weights_lack_is_invalid() -> None:
    with pytest.raises(Invalid, match="not-quantisable"):
        PyTorchTemplate().build(decode_instance(_flat(document("torch.sigmoid", "channels", "int8", 0, 1))), "key", 0)


def _flat(made: dict[str, Any]) -> dict[str, Any]:
    return {**made, "call": [{"name": "input", "value": _value(X[0, 0])}]}


@pytest.mark.parametrize("graph", [("quantised", "int8", 1), ("quantised",), ("branch", 1), ("other",), ()])
def test_a_graph_that_is_unknown_is_invalid(graph: tuple[Any, ...]) -> None:
    made = {**document("torch.sigmoid", "branch"), "context": [["embedding", list(graph)]]}
    with pytest.raises(Invalid, match="no-embedding"):
        PyTorchTemplate().build(decode_instance(made), "key", 0)


def test_openvino_takes_each_kind_of_graph(tmp_path: Path) -> None:
    graphs = [("quantised", *SETTINGS["quantised"][0]), ("branch",), ("loop", "carried"), CHANNELS]
    workspace = filled(tmp_path, [decode_instance(document("torch.sigmoid", *graph)) for graph in graphs])
    assert {result.verdict for _, result in run(workspace, "openvino", "pytorch", ()).results} == {Verdict.PASS}


def test_the_source_embeds_recorded_calls(tmp_path: Path) -> None:
    recorded, recording = tmp_path / "instances.jsonl", tmp_path / "r.jsonl"
    recorded.write_text("".join(json.dumps({"id": api, "instance": document(api)}) + "\n" for api in CALLS))
    command = [sys.executable, str(INSTRUMENTATION / "__main__.py"), "opera.extensions.generators.hosts.random_calls"]
    options = ["--recording", str(recording), "--instances", str(recorded), "--kinds", "quantised,branch,loop"]
    subprocess.run([*command, *options], check=True, capture_output=True)
    found = [line["instance"] for line in map(json.loads, recording.read_text().splitlines()) if "instance" in line]
    assert len(found) == len(CALLS) * len(GRAPHS)
    assert {tuple(dict(each["context"])["embedding"]) for each in found} == set(GRAPHS)
