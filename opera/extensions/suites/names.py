"""Names of tests and modules: the same from export to export."""

from __future__ import annotations

import re
from collections.abc import Sequence

_DIGITS = 8
_OF_AN_ID = 80
"""Characters of a suite's id that a name keeps."""
_FAMILIES = (
    ("conv", r"conv"),
    ("pool", r"pool"),
    ("norm", r"norm(?!al)"),
    ("quantize", r"quant|qlinear|matmulinteger"),
    ("recurrent", r"^(?:lstm|gru|rnn)"),
    ("attention", r"attention|rotary"),
    ("reduce", r"^(?:reduce|arg(?:max|min)|sum$|mean$|amax|amin|aminmax|prod|std|var|all$|any$|logsumexp|cum|logcumsum)"),
    ("matmul", r"matmul|gemm|einsum|^(?:mm|bmm|dot|vdot|mv|baddbmm|addmm|addmv|inner|outer|linear)$"),
    ("resize", r"resize|interpolate|upsample|gridsample|grid_sample|affine_?grid"),
    ("scatter_gather", r"scatter|gather|take|index|embedding"),
    ("sort", r"sort|topk|unique|searchsorted|median|mode$|kthvalue|nonzero|argwhere|compress"),
    ("loss", r"loss|cross_?entropy"),
    ("activation", r"softmax|relu|elu|gelu|celu|selu|sigmoid|swish|silu|softplus|softsign|mish|shrink|tanh$|threshold|glu"),
    ("shape", r"reshape|transpose|permute|squeeze|flatten|view|expand|tile|repeat|concat|^cat$|split|chunk|stack|slice|pad|flip|roll"),
    ("linalg", r"^linalg|det$|inv|cholesky|svd|^qr$|^lu|eig|solve|pinv"),
    ("bitwise", r"bitwise|bitshift|shift|logical"),
    ("cast", r"cast|bitcast"),
    ("sequence", r"sequence|optional|string"),
    ("fft", r"fft|dft|stft|mel"),
    ("control", r"^(?:if|loop|scan)$"),
)
"""Families of operators, each with the pattern of their names; the first that matches counts."""


def operator_of(api: str) -> str:
    """`maxpool` for `ai.onnx.MaxPool`; lower case, letters, digits and `_` only."""
    parts = api.split(".")
    name = parts[3] if parts[:2] == ["torch", "ops"] and len(parts) > 3 else parts[-1]
    return re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_").lower()[:40] or "operator"


def family_of(api: str) -> str:
    """The family of an operator; one for all others."""
    prefix = "linalg_" if ".linalg." in api else "fft_" if ".fft." in api else ""
    operator = operator_of(api)
    return next((family for family, pattern in _FAMILIES if re.search(pattern, prefix + operator)), "other")


def name_of_test(api: str, identity: str, ids: Sequence[str] = ()) -> str:
    """`test_maxpool_7265e8c0`; with the first of *ids*, of the suites that a test came from, in place of the operator."""
    words = (re.sub(r"\W+", "_", each, flags=re.ASCII).strip("_")[:_OF_AN_ID] for each in ids)
    return f"test_{next(filter(None, words), operator_of(api))}_{identity[:_DIGITS]}"


def module_name(compiler: str, frontend: str, family: str, *, fails: bool) -> str:
    """`test_tvm_onnx_conv` for tests that pass, `test_tvm_onnx_conv_failures` for known failures: no two modules of a run share a name."""
    return f"test_{compiler}_{frontend}_{family}{'_failures' if fails else ''}"
