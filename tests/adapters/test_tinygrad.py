"""What tinygrad's adapter says without clang, and which of tinygrad's exceptions it takes for a refusal."""

from __future__ import annotations

from typing import Any

import pytest

from opera.extensions.tinygrad.adapter import TinygradAdapter


def test_without_clang_it_names_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "no-such-clang")
    with pytest.raises(RuntimeError, match="apt-get install clang"):
        TinygradAdapter({}).start()


@pytest.mark.parametrize(
    ("kind", "message", "reason"),
    [
        ("NotImplementedError", "op='LSTM' is not supported", "no-operator"),
        ("NotImplementedError", "antialias is not implemented", "not-implemented"),
        ("ValueError", "8 is not a valid OnnxDataType", "dtype"),
        ("ValueError", "invalid coordinate_transformation_mode='tf_crop_and_resize'", "declined"),
        ("AssertionError", "resizing batch_size dim or channel dim not supported", "declined"),
        ("RuntimeError", "Shapes for input x sequence must be homogeneous", "declined"),
        ("RuntimeError", "input x has mismatch on dim=0. Expected None, received 2.", None),
        ("TypeError", "'<' not supported between instances of 'list' and 'int'", None),
        ("IndexError", "list index out of range", None),
    ],
)
def test_it_declines_what_tinygrad_says_to_lack_and_faults_are_none(kind: str, message: str, reason: str | None) -> None:
    failure: Any = {"type": kind, "message": message, "frames": [("tinygrad.nn.onnx", 1, "Resize")]}
    assert next((rule.reason for rule in TinygradAdapter.unsupported if rule.applies(failure, "load")), None) == reason
