"""A canary's result tells in which format a compiler computes products of float32."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import ml_dtypes
import numpy as np
import pytest

from opera.compilers.adapter import Route
from opera.compilers.canary import ONNX, TENSORFLOW, canaries, format_of, is_enough
from opera.difftest.judge import Judgement
from opera.difftest.session import canary_fault, canary_tests, products_of
from opera.instance import Instance, Tensor
from opera.oracles.compare import Policy, compare
from opera.oracles.verdict import Detail, Stage, Verdict

Floats = np.ndarray[Any, np.dtype[np.float32]]


def tf32(values: Floats) -> Floats:
    """The nearest floats with 10 bits of mantissa; ties to even."""
    bits = values.view(np.uint32).astype(np.uint64)
    return ((bits + 0xFFF + (bits >> 13 & 1)) & 0xFFFFE000).astype(np.uint32).view(np.float32)


def narrowed(dtype: Any) -> Callable[[Floats], Floats]:
    return lambda values: values.astype(dtype).astype(np.float32)


FORMATS: dict[str, Callable[[Floats], Floats]] = {
    "float32": lambda values: values, "TF32": tf32, "bfloat16": narrowed(ml_dtypes.bfloat16), "float16": narrowed(np.float16),
}  # fmt: skip


def operands(instance: Instance) -> list[Floats]:
    """Its two tensors, as matrices: rows of the products are rows of the first one."""
    tensors = [each.value for each in instance.call[:2] if isinstance(each.value, Tensor)]
    one, other = (np.frombuffer(cast(bytes, each.data), np.float32).reshape(each.shape) for each in tensors)
    if one.ndim == 2:
        return [one, other]
    if instance.library == "onnx":
        return [other[:, :, 0, 1], one[0, :, 0, :]]
    return [other[0, 1].T, one[0, 0].T]


@pytest.mark.parametrize("instance", [*ONNX, *TENSORFLOW], ids=lambda each: each.api)
@pytest.mark.parametrize("name", FORMATS)
def test_the_format_of_products_is_told(instance: Instance, name: str) -> None:
    one, other = operands(instance)
    with np.errstate(all="ignore"):
        expected, actual = one @ other, FORMATS[name](one) @ FORMATS[name](other)
    assert (expected == 1).all()
    difference = compare([expected], None, [actual], Policy({}))
    detail = {} if difference is None else {"difference": difference.document()}
    found = format_of(Verdict.PASS if difference is None else Verdict.INCONSISTENT, cast(Detail, detail))
    assert found == name


def test_less_than_declared_is_not_enough() -> None:
    assert is_enough("float32", "TF32")
    assert is_enough("TF32", "float16")
    assert not is_enough("bfloat16", "float32")
    assert not is_enough(None, "bfloat16")


def test_a_wrong_result_that_no_format_explains_has_none() -> None:
    difference = compare([np.ones((23, 8), np.float32)], None, [np.zeros((23, 8), np.float32)], Policy({}))
    assert difference is not None
    assert format_of(Verdict.INCONSISTENT, cast(Detail, {"difference": difference.document()})) is None
    assert format_of(Verdict.CRASH, cast(Detail, {})) is None


def test_less_than_declared_is_said_in_one_sentence() -> None:
    _, (test, _) = canary_tests(Route("onnx", "onnx", "onnx"), "own/onnx", 0)
    facts = {"kind": "values", "output": 0, "expected": "1", "actual": "0", "share": 16 / 23}
    judgement = Judgement(Verdict.INCONSISTENT, Stage.COMPARE, detail=cast(Detail, {"difference": facts}))
    assert (
        canary_fault("own", "float32", test, judgement)
        == "computes ai.onnx.MatMul of float32 in bfloat16, and its adapter declares float32"
    )
    assert canary_fault("own", "bfloat16", test, judgement) is None
    assert canary_fault("own", "float32", test, replace(judgement, verdict=Verdict.PASS)) is None
    broken = replace(judgement, detail=cast(Detail, {"difference": {**facts, "share": 1.0}}))
    assert str(canary_fault("own", "bfloat16", test, broken)).startswith(
        "fails on the canary model (inconsistent: values: expected 1, got 0"
    )


def test_a_compiler_is_as_precise_as_its_least_precise_product() -> None:
    def judged(bits: int) -> Judgement:
        facts = {"kind": "values", "output": 0, "expected": "1", "actual": "0", "share": (23 - bits) / 23}
        return Judgement(Verdict.INCONSISTENT, Stage.COMPARE, detail=cast(Detail, {"difference": facts}))

    exact = Judgement(Verdict.PASS, Stage.COMPARE)
    assert products_of([exact, exact]) == "float32"
    assert products_of([exact, judged(10)]) == "TF32"
    assert products_of([judged(7), judged(10)]) == "bfloat16"
    assert products_of([exact, judged(5)]) is None, "no format explains it"
    assert products_of([exact, replace(exact, reason="same-signature")]) is None, "nothing was compared"
    assert products_of([exact]) is None, "one canary is an addition, which says nothing of products"


@pytest.mark.parametrize("library", ["onnx", "pytorch", "keras", "tensorflow"])
def test_the_canaries_of_a_library_are_a_product_and_a_convolution(library: str) -> None:
    product, convolution = canaries(library)
    assert "mul" in product.api.lower()
    assert "conv" in convolution.api.lower()


def test_a_compiler_may_decline_convolutions_and_not_products() -> None:
    _, (product, convolution) = canary_tests(Route("onnx", "onnx", "onnx"), "own/onnx", 0)
    declined = Judgement(Verdict.UNSUPPORTED, Stage.LOAD, reason="declined")
    assert canary_fault("own", "float32", convolution, declined) is None
    assert "fails on the canary model (unsupported" in str(canary_fault("own", "float32", product, declined))
    assert canary_fault("own", "float32", convolution, replace(declined, verdict=Verdict.CRASH)) is not None
