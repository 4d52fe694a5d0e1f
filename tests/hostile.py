"""Documents that a stranger could send: sound ones with a part exchanged, cut, repeated or nested."""

from __future__ import annotations

import copy
import json
from typing import Any

from hypothesis import strategies as st
from instances import counting, node, tensor, torch_call

from opera.instance import Call, Constraint, Graph, Named, Tensor

SOUND = [
    node("MaxPool", 12, {"kernel_shape": [2, 2], "ceil_mode": 1}, X=counting(1, 1, 4, 4)),
    torch_call(
        "torch.nn.functional.pad", tensor([[1.0, 2.0]]), pad=(1, 2), mode="constant", value=float("nan"),
        extra={"a": [1, slice(0, None, 2)], "module": Call("torch.nn.Linear", ((None, 3), ("bias", False)))},
        drawn=Tensor((2, 3), "float32", strides=(3, 1), constraint=Constraint(-1.0, 2.0, structure=("sorted",))),
        body=Graph("onnx.GraphProto", b"\x01\x02"), kind=Named("torch.relu"),
    ),
]  # fmt: skip
"""Instances with values of many kinds."""
SCALARS: list[Any] = [
    None, True, False, 0, 1, -1, 2**31, 2**53, 2**63, -(2**63) - 1, 2**300, 0.5, -0.0, 1e308,
    "", "x", "0", "\x00", "\x1b]8;;x\x07", "\ud800",
    "../../etc/passwd", "/etc/passwd", "a" * 2_000, "nan", "'\"\\\n", "__import__('os').system('id')",
    "'\"></pre></code></script>]]><img src=x onerror=alert(1)>\u202e", [], {}, [[]], [1], {"a": 1},
    {"tuple": 1}, {"bytes": "?"}, {"float": "1_0"}, {"dict": [[[], 1]]}, {"tensor": {}}, {"graph": {}}, {"call": []}, {"blob": "../x"},
    {"range": [0, 2**70, 1]}, {"complex": ["a", {}]}, {"slice": []}, {"enum": "x"}, {"opaque": [1, 2]},
]  # fmt: skip
"""What stands in the place of a part."""
SNIPPETS = [
    b"",
    b"\x00",
    b"\xff\xfe",
    b"[" * 5_000,
    b"{" * 50,
    b'"',
    b"NaN",
    b"Infinity",
    b"1e999",
    b"\n\n",
    b"{}",
    b"[]",
    b"null\n",
    b"\x1f\x8b",
]
"""What is put between the bytes of a file."""


def nested(depth: int) -> Any:
    """Lists in lists."""
    tree: Any = 1
    for _ in range(depth):
        tree = [tree]
    return tree


@st.composite
def spoilt(draw: st.DrawFn, tree: Any) -> Any:
    """*tree* with one to three of its parts exchanged, dropped or repeated."""
    found = copy.deepcopy(tree)
    for _ in range(draw(st.integers(1, 3))):
        place: Any = found
        while isinstance(place, (dict, list)) and place:
            keys: list[Any] = sorted(place) if isinstance(place, dict) else list(range(len(place)))
            key = draw(st.sampled_from(keys))
            if not isinstance(place[key], (dict, list)) or not place[key] or draw(st.integers(0, 3)) == 0:
                _spoil(draw, place, key)
                break
            place = place[key]
    return found


def _spoil(draw: st.DrawFn, place: Any, key: Any) -> None:
    how = draw(st.sampled_from(["exchange", "exchange", "exchange", "nest", "drop", "repeat"]))
    if how == "exchange":
        place[key] = copy.deepcopy(SCALARS[draw(st.integers(0, len(SCALARS) - 1))])
    elif how == "nest":
        place[key] = nested(draw(st.sampled_from([10, 33, 100, 300, 480, 900])))
    elif how == "drop":
        del place[key]
    elif isinstance(place, list):
        place.extend(copy.deepcopy(place[key]) for _ in range(draw(st.sampled_from([1, 3, 100]))))
    else:
        place[str(key) + draw(st.sampled_from(["", "x", "\x00", "é"]))] = copy.deepcopy(place[key])


@st.composite
def spoilt_bytes(draw: st.DrawFn, data: bytes) -> bytes:
    """*data* cut, with bytes changed or put in between."""
    found = bytearray(data)
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, len(found)))
        how = draw(st.sampled_from(["cut", "flip", "insert", "drop"]))
        if how == "cut":
            del found[place:]
        elif how == "flip" and place < len(found):
            found[place] ^= 1 << draw(st.integers(0, 7))
        elif how == "insert":
            found[place:place] = draw(st.sampled_from(SNIPPETS))
        else:
            del found[place : place + draw(st.integers(1, 40))]
    return bytes(found)


def line(tree: Any) -> bytes:
    """*tree* as a line of JSON; lone surrogates and numbers of any size pass."""
    return json.dumps(tree, ensure_ascii=True).encode() + b"\n"
