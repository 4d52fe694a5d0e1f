"""What a raw failure says, once what changes from run to run is taken out."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from parameters import quick

from opera.compilers.registry import noise_of, plugins
from opera.oracles.fingerprint import NO_NOISE, summary, symptom_of, template, top_frames
from opera.oracles.verdict import Stage, Verdict


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("object at 0x7f12ab34cd56 died", "object at 0x55e0 died"),
        ("expected 3 dimensions, got 5", "expected 17 dimensions, got 2"),
        ("value -1.5e-07 out of range", "value 3 out of range"),
        ("cannot open /home/alice/env/lib/x.py here", "cannot open /opt/x.py here"),
        ("shapes (2, 3) and (4,) differ", "shapes (7, 1, 9) and (1, 1) differ"),
        ("input_12 is unknown", "input_7 is unknown"),
        ("missing ['b', 'a', 'c']", "missing ['c', 'b', 'a']"),
        ("missing {'b.x', 'a'}", "missing {'a', 'b.x'}"),
        ("\x1b[31mred\x1b[0m alert", "red alert"),
        ("too   many\n  spaces", "too many spaces"),
        ("kernel 8f14e45fceea167a5a36dedd4bea2543 failed", "kernel c9f0f895fb98ab9159f51fd0297e236d failed"),
        ("operands are T.float32 and bfloat16", "operands are T.int8 and T.bool"),
        ("a shape tensor must be Int32 or Int64. Type is Half", "a shape tensor must be Int32 or Int64. Type is FP8"),
        ("Tensor out0 has datatype FP4 but", "Tensor out0 has datatype Float but"),
        ("tensor(float) and tensor(float8e4m3fn)", "tensor(double) and tensor(float16)"),
        ("the type kBF16, f8E4M3FN", "the type kFLOAT, float8_e5m2"),
        (
            "failed to legalize operation 'torch.aten.sum' that was explicitly marked illegal: %7 = \"torch.aten.sum\"(%3)",
            "failed to legalize operation 'torch.aten.sum' that was explicitly marked illegal: %1 = \"torch.aten.sum\"(%0, %2)",
        ),
        (
            "call[target=cat](args = ([%a, %b_4],), kwargs = {dim: 0}).",
            "call[target=cat](args = ([%b],), kwargs = {}).",
        ),
        ("flags [True, False]", "flags [False, False, True]"),
        ("operand type 'tensor<?x1xi1>' is wrong", "operand type 'tensor<2x3x4xi1>' is wrong"),
        ("<stdin>:5:10: error: no cast\n    %1 = torch.op %2\n    ^", "<stdin>:7:9: error: no cast\n  %8 = x\n   ^"),
        (
            "lld: error: undefined symbol: fmod\n>>> referenced by <stdin>:4\n>>>  /a/dispatch_0-f4f1a8.o:(elementwise_6_f64)",
            "lld: error: undefined symbol: fmod\n>>> referenced by <stdin>:5\n>>>  /b/dispatch_0-64605d.o:(elementwise_14_f64)",
        ),
        ("cannot open object async_dispatch_0-f4f1a8.o", "cannot open object async_dispatch_0-2c8aa1.o"),
    ],
)
def test_what_changes_from_run_to_run_makes_no_difference(one: str, other: str) -> None:
    assert template(one) == template(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("unknown attribute 'axis'", "unknown attribute 'axes'"),
        ("missing ['a', 'b']", "missing ['a', 'c']"),
        ("in relu.py", "in gelu.py"),
        ("expected a list", "expected a tuple"),
    ],
)
def test_what_a_failure_is_about_makes_a_difference(one: str, other: str) -> None:
    assert template(one) != template(other)


def test_lines_that_only_say_where_a_failure_was_noticed_are_dropped() -> None:
    message = (
        "Exception from src/inference/src/cpp/core.cpp:97:\n"
        "Check 'false' failed at src/frontends/onnx/frontend/src/frontend.cpp:335:\n"
        "FrontEnd API failed with OpConversionFailure:\n"
        "Model wasn't fully converted. Failed operations detailed log:\n"
        "-- Conversion is failed for: Acosh-9\n"
        "Rank of the input must be static\n"
    )
    noise = noise_of("openvino")
    assert template(message, noise) == summary(message, noise) == "Rank of the input must be static"


def test_what_means_nothing_in_the_messages_of_one_compiler_counts_in_those_of_another() -> None:
    message = "Summary:\nRank of the input must be static"
    assert template(message, noise_of("tvm")) == "Summary: Rank of the input must be static"
    assert summary("[ONNXRuntimeError] : 1 : FAIL : bad shapes", noise_of("openvino")).startswith("[ONNXRuntimeError]")


def test_what_a_compilers_tool_prints_around_an_error_is_dropped() -> None:
    message = (
        "Error invoking IREE compiler tool iree-compile\nError code: 1\nDiagnostics:\n<stdin>:5:10: error: no cast\n\n"
        "Invoked with:\n iree-compile /tmp/x/iree-compile - --iree-input-type=onnx\n\nNeed more information? Set IREE_SAVE_TEMPS=/dir\n"
    )
    assert summary(message, noise_of("iree")) == "no cast"
    assert template(message, noise_of("iree")) == template("<stdin>:7:9: error: no cast")


def test_the_place_in_a_model_is_no_part_of_a_message() -> None:
    """Names in it differ from model to model, and it can be longer than the message."""

    def message(model: str) -> str:
        inner = f'callsite(fused["Call:", "Call@__inference_wrapper_{model}"] at fused["Call:", "Call"])'
        place = f'loc(fused["BiasAdd:", "{model}/BiasAdd@__inference_serve_17"] at {inner})'
        return f"<unknown>:0: error: {place}: 'tf.Transpose' op x (rank 3): no\n<unknown>:0: note: loc({inner}): called from\n"

    assert summary(message("conv1d_7_1")) == "'tf.Transpose' op x (rank 3): no"
    assert template(message("conv1d_7_1")) == template(message("dense")) != template(message("dense").replace("Transpose", "Add"))


def test_a_warning_before_the_error_is_dropped() -> None:
    error = "<stdin>:4:10: error: failed to legalize operation 'torch.aten.sum'"
    warned = f"<stdin>:4:10: warning: Number of inferred reduce dims, 3, does not match\n{error}"
    assert template(warned) == template(error)
    assert summary(warned) == "failed to legalize operation 'torch.aten.sum'"


def test_a_message_of_nothing_but_noise_is_kept() -> None:
    assert template("Summary:\n", noise_of("openvino")) != ""
    assert summary("Summary:\n", noise_of("openvino")) == "Summary:"


def test_a_summary_names_an_operator_in_place_of_its_dump() -> None:
    dump = 'ir.Op(span=None, ty=ir.Type(span=None), name="relax.log", description="", arguments=(), attrs_type_key="", support_level=10)'
    assert summary(f"{dump} requires float, not the result of {dump}") == "relax.log requires float, not the result of relax.log"


def test_the_message_of_inductor_follows_its_introduction() -> None:
    message = "backend='inductor' raised:\nGuardOnDataDependentSymNode: Could not extract an integer from u0"
    assert summary(message) == "GuardOnDataDependentSymNode: Could not extract an integer from u0"
    assert summary("backend='inductor' raised:") == "backend='inductor' raised:"


def test_onnxruntimes_prefix_is_no_part_of_the_summary() -> None:
    text = "[ONNXRuntimeError] : 1 : FAIL : Non-zero status code returned while running Add node. Name:'n' Status Message: bad shapes here"
    assert summary(text, noise_of("onnxruntime")) == "bad shapes here"


@pytest.mark.parametrize("message", ["", "\n \n", "\x00\x01\x02", "\udcff" * 10, "[" * 5000, "('a'" + ", 'a'" * 5000])
def test_odd_messages_have_a_template_and_a_summary(message: str) -> None:
    assert len(template(message)) <= 2000
    assert len(summary(message)) <= 240
    assert "\n" not in template(message) + summary(message)


@pytest.mark.parametrize(
    "message",
    quick(part * (2**20 // len(part)) for part in ("x", "/a", "['a', ", "0x", "1 ", "((((1, ", "\n", "a.h:1 ", " ", "Summary:\n")),
)
def test_a_megabyte_of_anything_is_normalised(message: str) -> None:
    for compiler in plugins():
        assert len(template(message, noise_of(compiler))) <= 2000
        assert len(summary(message, noise_of(compiler))) <= 240


@given(st.text(max_size=300))
def test_every_text_has_one_template_of_one_line_and_bounded_length(message: str) -> None:
    assert template(message) == template(message)
    assert len(template(message)) <= 2000
    assert "\n" not in template(message)


def crash(
    message: str, subject: str = "c/f", converter: str = "add", kind: str = "ValueError", frames: tuple[list[object], ...] = ()
) -> str:
    detail = {"failure": {"type": kind, "message": message, "frames": frames}}
    return symptom_of(subject, Verdict.CRASH, Stage.LOAD, converter, detail, NO_NOISE).fingerprint


def test_a_fingerprint_is_16_hexadecimal_digits_that_never_change() -> None:
    assert crash("cannot convert 3 at 0x1") == crash("cannot convert 99 at 0xffff") == "2b7fd1968150c8d9"


def test_the_documents_name_the_finding_that_a_newcomer_gets() -> None:
    difference = {"kind": "shape", "output": 0, "expected": "[1, 1, 1, 1]", "actual": "[1, 1, 2, 2]"}
    found = symptom_of("openvino/onnx", Verdict.INCONSISTENT, Stage.COMPARE, "MaxPool", {"difference": difference}, NO_NOISE).fingerprint
    root = Path(__file__).parents[2]
    assert f"opera reproduce {found}" in (root / "docs" / "tutorial.md").read_text(encoding="utf-8")
    assert f"opera reproduce {found[:8]}`" in (root / "README.md").read_text(encoding="utf-8")


def test_a_fingerprint_tells_subject_converter_kind_and_message_apart() -> None:
    prints = {crash("a"), crash("b"), crash("a", "d/f"), crash("a", converter="mul"), crash("a", kind="TypeError")}
    assert len(prints) == 5


def test_a_fingerprint_tells_where_a_compiler_raised_whatever_the_line() -> None:
    here, there = ["c.importer", "c/importer.py", 3, "Importer._pad"], ["c.importer", "c/importer.py", 3, "Importer._slice"]
    assert crash("a", frames=(here,)) != crash("a", frames=(there,))
    assert crash("a", frames=(here,)) == crash("a", frames=([*here[:2], 99, here[3]],))
    ours, standard = ["opera.compilers.c", "opera/compilers/c.py", 1, "load"], ["json.decoder", "json/decoder.py", 1, "decode"]
    assert crash("a", frames=(here, ours, standard)) == crash("a", frames=(here,))


def test_the_top_frames_are_the_compilers_own_in_python_and_in_cpp() -> None:
    frames = [
        ["opera.compilers.c", "opera/compilers/c.py", 1, "load"], ["c.api", "c/api.py", 1, "load"], ["c.api", "c/api.py", 9, "convert"],
        ["", "src/op/tensor/index.cc", 7, "<module>"], ["", "<unknown>", 0, "<module>"],
    ]  # fmt: skip
    message = "Exception from src/core/core.cpp:105:\nCheck 'a' failed at src/core/node.cpp:1:\nwhile src/core/node.cpp:2"
    assert top_frames({"message": message, "frames": frames}) == ("index.cc", "c.api.convert", "node.cpp", "core.cpp")
    generated = ["c.tasks.cwjk3h2du6pj6y63f7lnz2aalf2rsxw77tawn5pb5uwqooy5pxua", "c.py", 1, "call"]
    assert top_frames({"message": "", "frames": [generated]}) == ("c.tasks.GENERATED.call",)


def test_values_make_no_difference_between_wrong_results_but_dtypes_do() -> None:
    def wrong(kind: str, expected: str, actual: str) -> str:
        detail = {"difference": {"kind": kind, "expected": expected, "actual": actual}}
        return symptom_of("c/f", Verdict.INCONSISTENT, Stage.COMPARE, "add", detail, NO_NOISE).fingerprint

    assert wrong("values", "1.0", "2.0") == wrong("values", "3.0", "7.0")
    assert wrong("shape", "[1]", "[2]") == wrong("shape", "[5]", "[6]")
    assert wrong("dtype", "int64", "int32") != wrong("dtype", "int64", "float32")
    assert wrong("values", "1.0", "2.0") != wrong("nan", "1.0", "nan")


def test_signals_are_told_apart_and_hangs_of_different_deadlines_are_not() -> None:
    def lost(verdict: Verdict, cause: str, detail: str) -> str:
        return symptom_of("c/f", verdict, Stage.RUN, "add", {"lost": {"cause": cause, "detail": detail}}, NO_NOISE).fingerprint

    assert lost(Verdict.ABORT, "signal", "SIGSEGV") != lost(Verdict.ABORT, "signal", "SIGABRT")
    assert lost(Verdict.HANG, "deadline", "1 s") == lost(Verdict.HANG, "deadline", "60 s")
    assert lost(Verdict.OOM, "memory", "1 GiB") == lost(Verdict.OOM, "memory", "4 GiB")


def test_the_summary_has_no_address() -> None:
    assert summary("cannot trace <Block object at 0x7f3a1c> here") == "cannot trace <Block object> here"
    assert summary("segfault at 0x10") == "segfault at 0x10", "this address says something"
