"""Decompositions of matrices are unique only up to signs, phases, and the basis of equal eigenvalues: only their product must be equal."""

from __future__ import annotations

from typing import Any

import numpy as np

from opera.arrays import Array, Outputs, as_array, is_array
from opera.oracles.tolerance import tolerance_of

_MOST = 1 << 16
"""Elements of a matrix worth multiplying out."""


def is_decomposition(matrix: Array, expected: Outputs, actual: Outputs) -> bool:
    """Whether *actual* decomposes *matrix* as *expected* does: into Q and R, U, S and V, or eigenvalues and eigenvectors.

    The library's factors decide which decomposition it is, and how its factors are laid out. A product that the library's factors do not
    have is not required. So an operator that decomposes something else, or its input's triangle, gets no excuse here.

    Args:
        matrix: The input, `(..., m, n)`.
        expected: The library's factors.
        actual: The compiler's, of the same shapes.
    """
    if matrix.ndim < 2 or not 0 < matrix.size <= _MOST or matrix.dtype.kind not in "fc":
        return False
    theirs, ours = _factors(actual), _factors(expected)
    if theirs is None or ours is None or len(theirs) != len(ours):
        return False
    wide = matrix.astype(np.complex128)
    checks = [each for each in (_qr, _svd, _svd_transposed, _svd_values_first, _eigen, _orthonormal_eigen) if _holds(each, wide, ours)]
    return bool(checks) and all(_holds(each, wide, theirs) for each in checks)


def _factors(outputs: Outputs) -> list[Array] | None:
    arrays = [as_array(each) for each in outputs if is_array(each)]
    if len(arrays) != len(outputs) or any(array.dtype.kind not in "fc" for array in arrays):
        return None
    return [array.astype(np.complex128) for array in arrays]


def _holds(check: Any, matrix: Array, factors: list[Array]) -> bool:
    with np.errstate(all="ignore"):
        try:
            return bool(check(matrix, factors))
        except ValueError:
            return False


def _near(one: Array, other: Array) -> bool:
    tolerance = tolerance_of("float32")
    assert tolerance is not None
    largest = float(np.abs(other).max(initial=0.0))
    return one.shape == other.shape and bool((np.abs(one - other) <= 10 * (tolerance.absolute + tolerance.relative * largest)).all())


def _adjoint(matrix: Array) -> Array:
    return np.conj(np.swapaxes(matrix, -1, -2))


def _orthonormal(columns: Array) -> bool:
    product = _adjoint(columns) @ columns
    return _near(product, np.broadcast_to(np.eye(columns.shape[-1], dtype=np.complex128), product.shape))


def _qr(matrix: Array, factors: list[Array]) -> bool:
    q, r = factors
    return r.ndim == matrix.ndim and _orthonormal(q) and _near(r, np.triu(r)) and _near(q @ r, matrix)


def _svd(matrix: Array, factors: list[Array]) -> bool:
    u, s, v = factors
    count = s.shape[-1]
    return _orthonormal(u) and _orthonormal(_adjoint(v)) and _near((u[..., :count] * s[..., None, :]) @ v[..., :count, :], matrix)


def _svd_transposed(matrix: Array, factors: list[Array]) -> bool:
    u, s, v = factors
    return _svd(matrix, [u, s, _adjoint(v)])


def _svd_values_first(matrix: Array, factors: list[Array]) -> bool:
    s, u, v = factors
    return _svd_transposed(matrix, [u, s, v])


def _eigen(matrix: Array, factors: list[Array]) -> bool:
    values, vectors = factors
    if values.ndim != matrix.ndim - 1:
        return False
    lengths = np.linalg.norm(vectors, axis=-2)
    return _near(lengths, np.ones_like(lengths)) and _near(matrix @ vectors, vectors * values[..., None, :])


def _orthonormal_eigen(matrix: Array, factors: list[Array]) -> bool:
    return _eigen(matrix, factors) and _orthonormal(factors[1])
