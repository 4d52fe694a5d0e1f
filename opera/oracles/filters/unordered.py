"""Elements that may come in any order, or be any of several: NaN, ties, seeds, factors of matrices, places that are written twice."""

from __future__ import annotations

import numpy as np

from opera.arrays import Array
from opera.instance import Kind
from opera.oracles.decompositions import is_decomposition
from opera.oracles.evidence import Evidence
from opera.oracles.filters.rows import excuses


@excuses(
    "cast-out-of-range",
    r"grid_?sample(r(_[23]d)?)?|roi_?align|map_coordinates",
    input=1,
    why=("no pixel belongs to a NaN coordinate: to find a pixel, NaN is converted to an integer, which is undefined in C and LLVM"),
)
def input_nan(evidence: Evidence) -> Array:
    array = evidence.input
    if array is None or array.dtype.kind in "iubOSU":
        return evidence.nowhere()
    return evidence.everywhere(bool(np.isnan(array.astype(np.complex128)).any()))


@excuses(
    "order-of-nan",
    r"arg_?max|arg_?min|top_?k|max_?pool|reduce_?max|reduce_?min|non_?max_?suppression",
    libraries=("onnx",),
    why="the operator's documentation does not say how NaN compares",
)
@excuses(
    "order-of-nan",
    r"arg_?max|arg_?min|arg_?sort|sort|top_?k|arg_?partition|partition|unique\w*|\w*max_?pool\w*|(unsorted_)?segment_(max|min)",
    libraries=("keras", "tensorflow"),
    why="the operator's documentation does not say how NaN compares, and Keras' own backends differ in it",
)
@excuses(
    "order-of-nan",
    r"in_top_k",
    input=1,
    libraries=("keras", "tensorflow"),
    why="the operator's documentation does not say how NaN compares",
)
@excuses(
    "order-of-nan",
    r"(tensor_|resource_)?scatter(_nd)?_(max|min)",
    input=2,
    libraries=("tensorflow",),
    why="the operator's documentation does not say how NaN compares, nor in which order values for one element are compared",
)
def chosen_beside_nan(evidence: Evidence) -> Array:
    """Where the input holds a NaN, and the compiler gives one, or a number of some input, or what is no floating-point number."""
    actual = evidence.actual
    if actual is None or actual.dtype.kind in "OSU" or not input_nan(evidence).any():
        return evidence.nowhere()
    if actual.dtype.kind not in "fcV":
        return evidence.everywhere(True)
    numbers = np.concatenate([array.reshape(-1).astype(np.complex128) for array in evidence.arrays("fcV")])
    wide = actual.astype(np.complex128)
    return np.isnan(wide) | np.isin(wide, numbers)


@excuses(
    "cast-out-of-range",
    r"fake_quant\w*",
    why="no documentation says to which number NaN is quantised, and converting NaN to an integer is undefined in C and LLVM",
)
@excuses(
    "order-of-nan",
    r"sign|sgn",
    why=("the documentation defines the sign of numbers less than, equal to or greater than zero; for NaN, libraries give NaN or zero"),
)
@excuses(
    "order-of-nan",
    r"max|min|clip",
    libraries=("onnx",),
    why="the operator's documentation does not say how NaN compares",
)
@excuses(
    "order-of-nan",
    r"maximum|minimum|relu_?\d*",
    libraries=("keras", "tensorflow"),
    why="the documentation defines the result by `x > y ? x : y`, and comparisons with NaN are false",
)
def nan_there(evidence: Evidence) -> Array:
    """Where an element of an input that belongs to this element of the output is no number."""
    found = evidence.nowhere()
    for array in evidence.arrays("fcV"):
        try:
            found = found | np.broadcast_to(np.isnan(array.astype(np.complex128)), found.shape)
        except ValueError:  # an input of another shape
            continue
    return found


@excuses(
    "nothing-to-attend-to",
    r"(scaled_dot_product_|group_query_|grouped_query_|multi_?head_?|dot_product_)?attention(_forward)?|"
    r"multi_head_attention_forward|transformer\w*",
    why="a row in which every key is masked has no defined attention: some implementations give NaN, others zero",
)
def library_nan(evidence: Evidence) -> Array:
    return np.isnan(evidence.expected) if evidence.expected.dtype.kind in "fc" else evidence.nowhere()


@excuses(
    "nothing-to-attend-to",
    r"(scaled_dot_product_|group_query_|grouped_query_|multi_?head_?|dot_product_)?attention(_forward)?|"
    r"multi_head_attention_forward|transformer\w*",
    libraries=("pytorch",),
    why=(
        "if every key of a row is masked, PyTorch gives zero, but the formula of its documentation gives NaN; ONNX's "
        "function of the operator defines zero"
    ),
)
def nan_for_zero(evidence: Evidence) -> Array:
    """Where the library gives zero, and the compiler NaN."""
    expected, actual = evidence.expected, evidence.actual
    if expected.dtype.kind not in "fc" or actual is None or actual.dtype.kind not in "fc":
        return evidence.nowhere()
    return (expected == 0) & np.isnan(actual)


@excuses(
    "reduction-of-nothing",
    r"reduce_?mean",
    libraries=("onnx",),
    why="the operator's documentation says that the mean of an empty set of values is undefined",
)
def empty(evidence: Evidence) -> Array:
    """Everywhere, where the input has no elements."""
    return evidence.everywhere(evidence.input is not None and not evidence.input.size)


@excuses(
    "random-numbers",
    r"\w+",
    libraries=("keras", "tensorflow"),
    why=(
        "a seed fixes the drawn numbers on one kind of device only: TensorFlow chooses the generator by the device, and "
        "compilers have their own generators"
    ),
)
def seeded(evidence: Evidence) -> Array:
    """Where both give numbers, of a function that is called with a seed; what a layer draws is known from its runs with other seeds."""
    given = any(each.name == "seed" and each.value is not None for each in evidence.instance.call)
    if not given or evidence.instance.kind is not Kind.FUNCTION or evidence.actual is None or evidence.expected.dtype.kind in "OSU":
        return evidence.nowhere()
    return np.isfinite(evidence.expected) & np.isfinite(evidence.actual)


@excuses(
    "not-sorted",
    r"search_?sorted|(lower|upper)_?bound",
    input=0,
    why="an unsorted sequence has no defined position for a new element: the result depends on the search algorithm",
)
def unsorted(evidence: Evidence) -> Array:
    """Everywhere, where the input does not ascend along its last axis."""
    source = evidence.input
    if source is None or source.dtype.kind not in "iuf" or not source.ndim:
        return evidence.nowhere()
    return evidence.everywhere(not bool((source[..., 1:] >= source[..., :-1]).all()))


@excuses(
    "unspecified-order",
    r"arg_?partition|partition|unique|unique_consecutive|top_?k|in_top_k",
    parameter="sorted",
    equals=False,
    why="the library does not say in which order it gives the elements",
)
@excuses(
    "unspecified-order",
    r"arg_?partition|partition",
    why="the documentation only says which elements are on which side",
)
def same_elements(evidence: Evidence) -> Array:
    """Everywhere, where the outputs hold the same elements along some axis."""
    expected, actual = evidence.expected, evidence.actual
    if actual is None or expected.ndim == 0 or expected.dtype.kind == "O":
        return evidence.nowhere()
    return evidence.everywhere(
        any(
            bool(np.array_equal(np.sort(expected, axis=axis), np.sort(actual, axis=axis), equal_nan=expected.dtype.kind in "fc"))
            for axis in range(expected.ndim)
        )
    )


@excuses(
    "unspecified-order",
    r"non_?max_?suppression\w*|nms",
    input=1,
    why="boxes with equal scores may come in any order",
)
def equal_scores(evidence: Evidence) -> Array:
    """Everywhere, where the outputs hold the same rows and the input has equal elements, which may come in any order."""
    scores, expected, actual = evidence.input, evidence.expected, evidence.actual
    if scores is None or actual is None or expected.ndim == 0 or np.unique(scores).size == scores.size:
        return evidence.nowhere()
    rows, others = (sorted(array.reshape(len(array), -1).tolist()) for array in (expected, actual))
    return evidence.everywhere(rows == others)


@excuses(
    "written-twice",
    r"_*(unsafe_)?(index_put|index_copy|put|put_along_axis|scatter|scatter_elements|scatter_?nd|scatter_update|"
    r"tensor_scatter_nd_update)_*",
    why="if indices repeat, the documentation does not say which of the values is kept",
)
def written_twice(evidence: Evidence) -> Array:
    """Where both give a value that was to be written, and the indices name some place more than once."""
    expected, actual = evidence.expected, evidence.actual
    if actual is None or not any(_repeats(array) for array in evidence.arrays("iu")):
        return evidence.nowhere()
    written = [array.astype(expected.dtype) for array in evidence.arrays(expected.dtype.kind)[1:]]
    if not written:
        return evidence.nowhere()
    values = np.concatenate([array.reshape(-1) for array in written])
    return np.isin(expected, values) & np.isin(actual, values)


def _repeats(indices: Array) -> bool:
    """Whether an index, or a row of indices, occurs twice."""
    if indices.ndim < 2:
        return indices.size > np.unique(indices).size
    rows = indices.reshape(-1, indices.shape[-1])
    sides = (rows, indices.reshape(indices.shape[0], -1).T, rows.T)
    return any(len(np.unique(side, axis=0)) < len(side) for side in sides[:1]) or any(
        np.unique(line).size < line.size for side in sides for line in side
    )


@excuses(
    "not-unique",
    r"(linalg_)?(svd|svd_lowrank|qr|eig|eigh|self_adjoint_eig|pca_lowrank)",
    why=("factors are unique only up to signs, phases and the basis of equal eigenvalues, and the product of these factors is the input"),
)
def decomposition(evidence: Evidence) -> Array:
    """Everywhere in a matrix of factors, where the compiler's factors are a decomposition of the input as well."""
    source, results = evidence.input, evidence.results
    if source is None or results is None or evidence.expected.ndim < 2:
        return evidence.nowhere()
    return evidence.everywhere(is_decomposition(source, evidence.outputs, results))
