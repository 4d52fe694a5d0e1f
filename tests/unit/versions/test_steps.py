"""What the output of a script says about one version."""

from __future__ import annotations

import pytest

from opera.extensions.findings.recorded import Shown, State
from opera.extensions.versions.steps import at_opset, declined_as, is_alike, raised_in, shows_alike
from opera.oracles.fingerprint import Symptom
from opera.oracles.verdict import Stage, Verdict

HEAD = 'Traceback (most recent call last):\n  File "/tmp/x/reproducer.py", line 9, in <module>\n    f()\n'
OLD_IR = (
    "onnxruntime.capi.onnxruntime_pybind11_state.Fail: [ONNXRuntimeError] : 1 : FAIL : Load model from bytes failed:/x/model.cc:149"
    " Unsupported model IR version: 11, max supported IR version: 10"
)
OLD_OPSET = (
    "onnxruntime.capi.onnxruntime_pybind11_state.Fail: [ONNXRuntimeError] : 1 : FAIL : model_load_utils.h:46 ONNX Runtime only *guarantees*"
    " support for models stamped with official released onnx opset versions. Opset 23 is under development and support for this is limited."
)


@pytest.mark.parametrize(
    ("last", "compiler", "reason"),
    [
        (OLD_IR, "onnxruntime", "newer-opset"),
        (OLD_OPSET, "onnxruntime", "newer-opset"),
        ("RuntimeError: OpenVINO does not support the following ONNX operations: DFT", "openvino", "no-converter"),
        ("RuntimeError: DequantizeLinear cannot operate with dynamic shapes of input X", "openvino", "declined"),
        ("RuntimeError: SplitToSequence: scalar 'split' input requires static dimension on the split axis", "openvino", "declined"),
        ("RuntimeError: Cannot get length of dynamic dimension", "openvino", None),
        ("onnxruntime.capi.onnxruntime_pybind11_state.RuntimeException: [ONNXRuntimeError] : 6 : bad pads", "onnxruntime", None),
        ("RuntimeError: anything", "torch.onnx", None),
    ],
)
def test_a_typed_refusal_is_told_from_a_failure(last: str, compiler: str, reason: str | None) -> None:
    failure = raised_in(f"warning: x\n{HEAD}{last}\nmore\n")
    assert failure is not None
    assert declined_as(failure, compiler) == reason


def test_the_module_that_raised_is_read_from_the_trace() -> None:
    output = f'{HEAD}  File "/v/lib/python3.11/site-packages/tvm/relax/op/__init__.py", line 3, in g\n    raise\nNotImplementedError\n'
    failure = raised_in(output)
    assert failure is not None
    assert failure["frames"] == [("tvm.relax.op", "", 0, "")]
    assert declined_as(failure, "tvm") == "not-implemented"


def test_the_last_of_several_exceptions_counts_and_output_without_a_trace_has_none() -> None:
    failure = raised_in(
        f"{HEAD}KeyError: 1\n\nDuring handling of the above exception, another exception occurred:\n\n{HEAD}ValueError: a\nb\n"
    )
    assert failure is not None
    assert (failure["type"], failure["message"]) == ("ValueError", "a\nb")
    assert raised_in("ValueError: no trace\n") is None


def test_a_script_is_written_for_an_older_opset_and_never_for_a_newer_one() -> None:
    made = 'helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22), helper.make_opsetid("ai.onnx.ml", 3)], ir_version=10)'
    assert at_opset(made, 18) == made.replace("22", "18").replace("ir_version=10", "ir_version=8")
    assert at_opset(made, 25) == made
    text = '<ir_version: 13, opset_import: ["" : 25]>'
    assert at_opset(text, 22) == '<ir_version: 10, opset_import: ["" : 22]>'


def crash(message: str, kind: str = "ValueError") -> Symptom:
    return Symptom("tvm/onnx", Verdict.CRASH, Stage.LOAD, kind, "Pad", message, ("tvm.x",))


def wrong(kind: str) -> Symptom:
    return Symptom("tvm/onnx", Verdict.INCONSISTENT, Stage.COMPARE, kind, "Pad", "")


def test_failures_of_two_versions_are_alike_by_what_they_say() -> None:
    assert is_alike(
        crash("padding values must be positive"),
        Symptom("tvm/onnx", Verdict.CRASH, Stage.RUN, "ValueError", "", "padding values must be positive here"),
    )
    assert not is_alike(crash("padding values must be positive"), crash("padding values must be positive", "KeyError"))
    assert not is_alike(crash("padding values must be positive"), crash("the shape of the kernel is unknown"))
    assert is_alike(wrong("nan"), wrong("values"))
    assert not is_alike(wrong("shape"), wrong("values"))
    assert not is_alike(wrong("values"), crash("values"))


def output(last: str) -> Shown:
    return Shown(State.FAILS, last, f"{HEAD}{last}\n")


KILLED = Shown(State.FAILS, "the process ended with SIGSEGV")


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        (output("AssertionError: expected shape (1,), got (2,)"), output("AssertionError: expected shape (3,), got (2,)"), True),
        (output("AssertionError: expected shape (1,), got (2,)"), output("AssertionError: Arrays are not equal"), False),
        (output("AssertionError: Arrays are not equal"), output("ValueError: Arrays are not equal"), False),
        (output("ValueError: size 3 of tensor x does not match"), output("ValueError: size 12 of tensor y does not match"), True),
        (output("ValueError: no kernel for this operator"), output("ValueError: shapes differ"), False),
        (output("KeyError: 7"), output("KeyError: 12"), True),
        (output("KeyError: 7"), output("KeyError: 'dilations'"), False),
        (KILLED, KILLED, True),
        (KILLED, Shown(State.FAILS, "the process ended with SIGFPE"), False),
        (KILLED, output("ValueError: x"), False),
    ],
)
def test_two_runs_of_a_script_are_alike_by_what_they_show(one: Shown, other: Shown, alike: bool) -> None:
    assert shows_alike(one, other) is shows_alike(other, one) is alike
