"""RUN lines of StableHLO's test files: what they ask for is done, or said not to be done."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opera.extensions.stablehlo.conformance.run_lines import RunLines, run_lines_of

EXPANDER = "stablehlo-complex-math-expander"


@pytest.mark.parametrize(
    "line",
    [
        "stablehlo-translate --interpret -split-input-file %s",
        "stablehlo-opt -inline %s | stablehlo-translate --interpret",
        "stablehlo-opt --chlo-pre-serialization-pipeline -inline %s | stablehlo-translate --interpret",
        "stablehlo-opt --stablehlo-legalize-composite-to-call  %s | stablehlo-translate --interpret",
        "stablehlo-translate --interpret --interpreter-print-dense --split-input-file %s | FileCheck %s --check-prefix=CHECK-DENSE",
        "dirname %t | xargs -I{DIR} stablehlo-translate --interpret --probe-output-dir={DIR} -split-input-file %s",
        'not stablehlo-translate %s --interpret --args="[4.0 : f32]" 2>&1 | FileCheck %s --check-prefixes=CHECK-ERROR-NOT-DENSE',
        "stablehlo-opt --stablehlo-refine-shapes %s | FileCheck %s",
        "diff %t.0 %t.1",
    ],
)
def test_what_changes_no_result_needs_no_pass(line: str) -> None:
    assert run_lines_of(f"// RUN: {line}\nmodule {{}}\n") == RunLines()


def test_passes_before_an_evaluation_are_named_in_their_order() -> None:
    line = f"stablehlo-opt --chlo-legalize-to-stablehlo --{EXPANDER} %s | stablehlo-translate --interpret"
    assert run_lines_of(f"// RUN: {line}").passes == ("chlo-legalize-to-stablehlo", EXPANDER)


def test_a_line_goes_on_after_a_backslash_and_reads_what_another_one_wrote() -> None:
    text = f"// RUN: stablehlo-opt \\\n// RUN:   -{EXPANDER} %s > %t.mlir\n// RUN: stablehlo-translate --interpret %t.mlir\n"
    assert run_lines_of(text).passes == (EXPANDER,)


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("stablehlo-translate --interpret --fast-math %s", "--fast-math"),
        ("stablehlo-opt --snapshot-op-locations=filename=/etc/passwd %s | stablehlo-translate --interpret", "--snapshot-op-locations"),
        ("stablehlo-opt --canonicalize %s | stablehlo-translate --interpret", "--canonicalize"),
        ("stablehlo-opt --stablehlo-refine-arguments='types=tensor<2xf32>' %s | stablehlo-translate --interpret", "refine-arguments"),
        ("sed s/1/2/ %s | stablehlo-translate --interpret", "sed"),
        ('stablehlo-opt "--x %s | stablehlo-translate --interpret', "cannot be read"),
    ],
)
def test_what_opera_does_not_follow_is_named(line: str, named: str) -> None:
    found = run_lines_of(f"// RUN: {line}")
    assert named in found.refusal
    assert found.passes == ()


def test_two_evaluations_after_different_passes_are_refused() -> None:
    lines = ["stablehlo-translate --interpret %s", f"stablehlo-opt --{EXPANDER} %s | stablehlo-translate --interpret"]
    assert EXPANDER in run_lines_of("".join(f"// RUN: {each}\n" for each in lines)).refusal


@pytest.mark.parametrize(
    "text",
    ["// RUN: stablehlo-translate --interpret %t\n" * 100_000, "// RUN: a \\\n" * 100_000, f"// RUN: {'a ' * 10_000_000}"],
    ids=["lines", "continued", "long"],
)
def test_lines_without_end_are_refused_at_once(text: str) -> None:
    assert "RUN lines" in run_lines_of(text).refusal


@given(st.text(alphabet=st.sampled_from(list("|<>&;\\\"'%s -=")), max_size=60))
def test_no_line_ends_with_a_traceback(text: str) -> None:
    run_lines_of(f"// RUN: stablehlo-translate --interpret {text}\n// RUN: {text}")
