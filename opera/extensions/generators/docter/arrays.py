"""Values of tensor recipes as numpy arrays, for libraries whose tensors are made of such."""

from __future__ import annotations

import importlib
import math
from typing import Any

from opera.extensions.generators.docter.recipes import TensorRecipe

numpy: Any = importlib.import_module("numpy")


def array(recipe: TensorRecipe, seed: int) -> Any:
    """An array of the recipe's shape; bfloat16 as float32, which the library converts. The same for the same *seed*."""
    generator = numpy.random.Generator(numpy.random.PCG64(seed))
    if "float" in recipe.dtype or "complex" in recipe.dtype:
        return _real(recipe, generator).astype("float32" if recipe.dtype == "bfloat16" else recipe.dtype)
    low, high = 0, max(1, recipe.high)
    if recipe.values in ("signed", "negative"):
        low, high = (-9, 10) if recipe.values == "signed" else (-9, 0)
    if recipe.dtype == "bool":
        low, high = 0, 2
    return generator.integers(low, high, recipe.shape).astype(recipe.dtype)


def _real(recipe: TensorRecipe, generator: Any) -> Any:
    kind = recipe.values
    normal = generator.standard_normal(recipe.shape)
    if recipe.dtype.startswith("complex"):
        normal = normal + 1j * generator.standard_normal(recipe.shape)
    if kind == "definite":
        return normal @ numpy.swapaxes(normal, -1, -2).conj() + numpy.eye(recipe.shape[-1])
    if kind in ("positive", "unit"):
        return generator.random(recipe.shape) * (1.0 if kind == "unit" else 3.0) + (0.0 if kind == "unit" else 0.1)
    if kind == "integral":
        return numpy.round(normal * 3)
    if kind == "sorted" and recipe.shape:
        return numpy.sort(normal, -1)
    if kind == "negative":
        return -numpy.abs(normal) - 0.1
    if kind in ("zero", "huge"):
        return normal * (0.0 if kind == "zero" else 1e30)
    if kind in ("nan", "inf") and normal.size:
        normal = numpy.array(normal)
        normal.reshape(-1)[:: max(1, normal.size // 2)] = math.nan if kind == "nan" else math.inf
    return normal
