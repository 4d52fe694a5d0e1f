"""Random calls of Keras: their statements hold for Keras itself, and a file of Keras holds those of layers."""

from __future__ import annotations

import os
from dataclasses import replace

os.environ.setdefault("KERAS_BACKEND", "torch")

import pytest

from opera.extensions.generators.draws.calls import Drawn, calls
from opera.extensions.generators.draws.stated import WRONG
from opera.instance import decode_instance
from opera.models.template import Invalid
from opera.templates.keras.model import KerasModel, KerasTemplate

FIRST = {each.api: each for each in reversed(list(calls("keras")))}
"""The first call of each API."""


def model(each: Drawn) -> KerasModel:
    return KerasTemplate().build(decode_instance(each.document()), "key", 0)


@pytest.mark.parametrize("api", FIRST)
def test_every_statement_holds_for_keras(api: str) -> None:
    found = model(FIRST[api]).reference()
    assert found.undefined is None
    assert len(found.outputs) > 1


@pytest.mark.parametrize("api", ["keras.random.uniform", "keras.layers.GaussianNoise"])
def test_another_law_is_no_reference(api: str) -> None:
    each = FIRST[api]
    assert model(replace(each, law=replace(each.law, high=0.9))).reference().undefined == WRONG


def test_a_file_of_keras_holds_a_layer_with_its_statements_and_no_function_that_draws() -> None:
    model(FIRST["keras.layers.Dropout"]).artefact("keras", "runtime")
    with pytest.raises(Invalid, match="capture-failed:keras"):
        model(FIRST["keras.random.uniform"]).artefact("keras", "runtime")


@pytest.mark.parametrize("api", ["keras.layers.Dropout", "keras.random.categorical"])
def test_its_script_has_the_statements(api: str) -> None:
    found = model(FIRST[api]).source("runtime")
    space: dict[str, list[object]] = {}
    exec("\n".join(["import numpy as np", *found.imports, found.text, found.expected]), space)
    assert len(space["expected"]) > 1
    assert all(bool(each.all()) for each in space["expected"][1:])
