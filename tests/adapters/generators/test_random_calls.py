"""Random calls of PyTorch: their statements hold for PyTorch itself, and real compilers break them where their numbers are wrong."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from real_campaigns import filled, run

from opera.extensions.generators.draws.calls import Drawn, calls
from opera.extensions.generators.draws.laws import LAW, Law
from opera.extensions.generators.draws.stated import WRONG
from opera.extract.description import INSTRUMENTATION
from opera.instance import Instance, decode_instance
from opera.models.template import Invalid
from opera.oracles.verdict import Verdict
from opera.templates.pytorch.model import PyTorchModel, PyTorchTemplate

DRAWN = list(calls("pytorch"))


def instance(each: Drawn) -> Instance:
    return decode_instance(each.document())


def model(each: Drawn) -> PyTorchModel:
    return PyTorchTemplate().build(instance(each), "key", 0)


def call(api: str, *, names: tuple[str, ...] = (), **settings: Any) -> Drawn:
    """The first call of *api* with arguments of these names and, where they are no tensors, values."""
    return next(
        each
        for each in DRAWN
        if each.api == api
        and (not names or tuple(name for name, _ in each.call) == names)
        and all(_is(dict((*each.call, *each.keywords)).get(name), value) for name, value in settings.items())
    )


def _is(found: Any, wanted: Any) -> bool:
    return type(found) is type(wanted) and bool(found == wanted)


@pytest.mark.parametrize("api", sorted({each.api for each in DRAWN}))
def test_every_statement_holds_for_pytorch(api: str) -> None:
    for each in (each for each in DRAWN if each.api == api):
        found = model(each).reference()
        assert found.undefined is None
        assert len(found.outputs) > 1


@pytest.mark.parametrize(
    ("api", "law"),
    [
        ("torch.rand", {"high": 0.9}),
        ("torch.rand", {"shares": ((0.5, 0.6),)}),
        ("torch.randint", {"whole": True, "values": (), "low": 0, "high": 0}),
        ("torch.nn.functional.dropout2d", {"apart": 8}),
        ("torch.randn", {"distinct": 2, "low": -0.5}),
    ],
)
def test_another_law_is_no_reference(api: str, law: dict[str, Any]) -> None:
    each = call(api)
    assert model(replace(each, law=replace(each.law, **law))).reference().undefined == WRONG


@pytest.mark.parametrize("law", [Law(0, 1, apart=3), Law(0, 1, ((0.5, 0.5),), apart=4000), Law(0, 1, distinct=3), Law(0, 1, apart=10**9)])
def test_a_draw_that_has_no_such_parts_is_invalid(law: Law) -> None:
    with pytest.raises(Invalid, match="no-law"):
        model(replace(call("torch.rand"), law=law))


def test_numbers_that_are_no_numbers_of_python_do_not_reach_the_module() -> None:
    each = call("torch.rand")
    document = each.document()
    document["context"] = [[LAW, [["low", {"float": "-inf"}], ["high", 1.0], ["shares", [[{"float": "nan"}, 0.5]]]]]]
    with pytest.raises(Invalid):
        PyTorchTemplate().build(decode_instance(document), "key", 0).reference()


def test_an_exporter_that_drops_the_draw_is_found_and_named(tmp_path: Path) -> None:
    """torch.onnx 2.13 drops the dropout of attention, and draws one number for all where only the deviation of `normal` is a tensor."""
    wrong = [call("torch.normal", names=("mean", "std"), mean=5.0), call("torch.nn.functional.scaled_dot_product_attention", dropout_p=0.3)]
    workspace = filled(tmp_path, map(instance, [*wrong, call("torch.rand")]))
    results = dict(run(workspace, "onnxruntime", "pytorch", ()).results)
    assert {api.rpartition(".")[2]: (result.verdict, result.exporter) for api, result in results.items()} == {
        "rand": (Verdict.PASS, None),
        "normal": (Verdict.INCONSISTENT, None),  # ONNX's evaluator takes no scalar as the tensor to be like
        "scaled_dot_product_attention": (Verdict.INCONSISTENT, "torch.onnx"),
    }


def test_its_script_shows_the_failure(tmp_path: Path) -> None:
    found = model(call("torch.normal", names=("mean", "std"), mean=5.0)).source("runtime")
    script = tmp_path / "script.py"
    check = (
        "assert [value.shape for value in expected[1:]] == [()] * (len(expected) - 1)\nassert all(value.all() for value in expected[1:])"
    )
    script.write_text("\n".join(["import numpy as np", *found.imports, "", found.text, found.expected, check]))
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("library", ["pytorch", pytest.param("tensorflow", marks=pytest.mark.slow)])
def test_the_source_records_each_call_of_an_operator(library: str, tmp_path: Path) -> None:
    api = {"pytorch": "torch.multinomial", "tensorflow": "tf.nn.dropout"}[library]
    command = [sys.executable, str(INSTRUMENTATION / "__main__.py"), "opera.extensions.generators.hosts.random_calls"]
    recording = tmp_path / "r.jsonl"
    subprocess.run([*command, "--recording", str(recording), "--library", library, "--only", api], check=True, capture_output=True)
    found = [line["instance"] for line in map(json.loads, recording.read_text().splitlines()) if "instance" in line]
    assert [each["api"] for each in found] == [api] * sum(each.api == api for each in calls(library))
