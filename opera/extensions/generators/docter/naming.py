"""What the names of parameters tell by convention, for all libraries and APIs alike."""

from __future__ import annotations

import re

from opera.extensions.generators.docter.constraints import DTYPE, INT, TENSOR, ParameterConstraint, ValueType

AXIS, SIZE, SMALL, NEAR_ZERO, PLAIN = "axis", "size", "small", "near-zero", "plain"

_NUMBERS: tuple[tuple[str, str], ...] = (
    (r"(dim|axis)\d?|(dims|axes)(_.*)?|.*_axis|source|destination|batch_dims|start_dim|end_dim", AXIS),
    (r"kernel.*|stride.*|dilation.*|rate|groups|.*_factor|pool_size", SMALL),
    (r"num_layers|nhead|num_heads|heads|repeats|reps|times|factor", SMALL),
    (r"(.*_)?padding|pad|paddings|offset|diagonal|k|decimals|shift.*|storage_offset|cropping", NEAR_ZERO),
    (r"(.*_)?sizes?|(.*_)?shape|.*_?features|.*channels|.*_?dim|num_.*", SIZE),
    (r"n|m|length|steps|rows|cols|units|filters|d_model|depth", SIZE),
)
"""Patterns of names with what a whole number of such a name stands for; the first match counts."""

_INDICES = re.compile(
    r"ind(ex|ices)(_.*)?|.*_ind(ex|ices)|labels?|targets?|lengths?|.*_lengths|offsets|segment_ids|.*_ids|ids|crow_.*|col_.*|sizes"
)
_MASKS = re.compile(r"(.*_)?mask|condition|where")
_TENSORS = re.compile(
    r"input\d?|self|x\d?|y|a|b|other|tensor\d?|src|tgt|mat\d?|matrix|vec\d?|batch\d|query|key|value|values|weights?|bias|.*_tensor|images?|logits|data"
)


def number(name: str) -> str:
    """What a whole number of this name stands for."""
    return next((meaning for pattern, meaning in _NUMBERS if re.fullmatch(pattern, name)), PLAIN)


def is_index(name: str) -> bool:
    """Whether a tensor of this name usually holds indices."""
    return _INDICES.fullmatch(name) is not None


def is_mask(name: str) -> bool:
    """Whether a tensor of this name usually holds booleans."""
    return _MASKS.fullmatch(name) is not None


def likely_kinds(constraint: ParameterConstraint) -> tuple[ValueType, ...]:
    """The kinds to try for a parameter if only its name is known."""
    if "dtype" in constraint.name:
        return (ValueType(DTYPE),)
    if number(constraint.name) != PLAIN and not _TENSORS.fullmatch(constraint.name):
        return (ValueType(INT), ValueType("ints"))
    if _TENSORS.fullmatch(constraint.name) or is_index(constraint.name) or is_mask(constraint.name):
        return (ValueType(TENSOR),)
    return (ValueType(TENSOR), ValueType(INT), ValueType("float"), ValueType("ints"))
