"""Modules of StableHLO in generic form: as statements, as values, and as smaller modules."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from opera.extensions.stablehlo.kind import API, FORMAT, KIND, text_of
from opera.extensions.stablehlo.modules import read_module, values_of
from opera.extensions.stablehlo.reduction import STEPS, bypassed, features_of, fewer_operations, inlined
from opera.extensions.stablehlo.scanner import TextError
from opera.extensions.stablehlo.types import Value, tensor_type
from opera.instance import Argument, Graph, Instance, Kind, Tensor

MODULE = """"builtin.module"() ({
  "func.func"() <{function_type = (tensor<3xi32>) -> (tensor<3xi32>), sym_name = "twice"}> ({
  ^bb0(%arg8: tensor<3xi32>):
    %8 = "stablehlo.add"(%arg8, %arg8) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
    "func.return"(%8) : (tensor<3xi32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<3xi32>, tensor<3xi32>) -> (tensor<3xi32>, tensor<i32>), sym_name = "main"}> ({
  ^bb0(%arg0: tensor<3xi32>, %arg1: tensor<3xi32>):
    %0 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %1 = "func.call"(%arg0) <{callee = @twice}> : (tensor<3xi32>) -> tensor<3xi32>
    %2:2 = "stablehlo.sort"(%1, %arg1) <{dimension = 0 : i64}> ({
    ^bb0(%arg2: tensor<i32>, %arg3: tensor<i32>, %arg4: tensor<i32>, %arg5: tensor<i32>):
      %6 = "stablehlo.compare"(%arg2, %arg3) <{comparison_direction = #stablehlo<comparison_direction LT>}>\
 : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%6) : (tensor<i1>) -> ()
    }) : (tensor<3xi32>, tensor<3xi32>) -> (tensor<3xi32>, tensor<3xi32>)
    %3 = "stablehlo.reduce"(%2#1, %0) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg6: tensor<i32>, %arg7: tensor<i32>):
      %7 = "stablehlo.add"(%arg6, %arg7) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%7) : (tensor<i32>) -> ()
    }) : (tensor<3xi32>, tensor<i32>) -> tensor<i32>
    "func.return"(%2#0, %3) : (tensor<3xi32>, tensor<i32>) -> ()
  }) : () -> ()
}) : () -> ()
"""
INPUTS = (np.array([3, 1, 2], np.int32), np.array([10, 20, 30], np.int32))


def instance_of(text: str) -> Instance:
    call = tuple(Argument(f"arg{index}", Tensor(each.shape, "int32", each.tobytes())) for index, each in enumerate(INPUTS))
    return Instance("stablehlo", API, Kind(KIND), call=call, context=(("graph", Graph(FORMAT, text.encode())),))


def values(instance: Instance) -> dict[str, list[int]]:
    """The results of `main`, by place."""
    module = read_module(text_of(instance))
    given = [
        Value(tensor_type(type), np.frombuffer(each.value.data or b"", "int32").reshape(each.value.shape))
        for each, (_, type) in zip(instance.call, module.main.arguments, strict=True)
        if isinstance(each.value, Tensor)
    ]
    found = values_of(module, given)
    return {f"{place}": found[name].array.tolist() for place, (name, _) in enumerate(module.main.results)}


def test_a_module_is_written_as_it_was_read() -> None:
    assert str(read_module(MODULE)) == MODULE


def test_the_values_of_main_are_those_of_the_specification() -> None:
    assert values(instance_of(MODULE)) == {"0": [2, 4, 6], "1": 60}


def test_what_an_operation_gave_that_is_left_out_becomes_an_input_of_its_value() -> None:
    """Every candidate is a module, and gives results that the whole gives somewhere on the way."""
    on_the_way = [[3, 1, 2], [10, 20, 30], 0, [6, 2, 4], [2, 4, 6], [20, 30, 10], 60]
    found = list(fewer_operations(instance_of(MODULE)))
    assert len(found) > 5
    for each in found:
        assert all(value in on_the_way for value in values(each).values())
    alone = [each for each in found if features_of(each) == ["stablehlo.reduce(i32, i32)"]]
    assert values(alone[0]) == {"0": 60}
    assert "twice" not in text_of(alone[0]), "a function that nobody calls goes"


def test_a_function_is_put_in_place_of_its_call() -> None:
    (found,) = inlined(instance_of(MODULE))
    assert "func.call" not in text_of(found)
    assert values(found) == {"0": [2, 4, 6], "1": 60}


def test_an_operation_is_replaced_by_an_operand_of_its_type() -> None:
    assert {"0": [1, 2, 3], "1": 60} in [values(each) for each in bypassed(instance_of(MODULE))], "without the call of twice"


@pytest.mark.parametrize(
    "text",
    [
        "module { func.func @main() { return } }",
        '"builtin.module"() ({}) : () -> ()',
        MODULE.replace('"main"', '"other"'),
        MODULE.replace("%2:2", "%2:3"),
        MODULE.replace("%2:2", "%2:99999999999"),
        MODULE.replace("%2:2", "%2:two"),
        '"a"() ({' * 5_000,
        MODULE[:400],
        "",
    ],
)
def test_another_text_has_no_smaller_version(text: str) -> None:
    with pytest.raises(TextError):
        read_module(text)
    for step in STEPS[:-1]:
        assert list(step(instance_of(text))) == []


def test_an_operation_without_a_known_value_stays() -> None:
    text = MODULE.replace('"func.call"(%arg0) <{callee = @twice}>', '"stablehlo.custom_call"(%arg0) <{call_target_name = "x"}>')
    found = list(fewer_operations(instance_of(text)))
    assert found, "what does not need it can go alone"
    assert all("custom_call" in text_of(each) or "%1" not in text_of(each) for each in found)


def test_drawn_inputs_are_no_values() -> None:
    drawn = replace(instance_of(MODULE), call=tuple(Argument(f"arg{index}", Tensor((3,), "int32")) for index in range(2)))
    assert list(fewer_operations(drawn)) == []


@pytest.mark.parametrize(
    ("written", "instead"),
    [
        ("(%2#0, %3) : (tensor<3xi32>", "(%none, %3) : (tensor<3xi32>"),
        ("(%1, %arg1) <{", "(%none, %arg1) <{"),
        ("dense<0> : tensor<i32>}> : () -> tensor<i32>", "dense<0> : tensor<2000000x1000000xi32>}> : () -> tensor<2000000x1000000xi32>"),
        ("callee = @twice", "callee = @main"),
        ("dimensions = array<i64: 0>", "dimensions = array<i64: 7>"),
        ("dimension = 0 : i64", "dimension = unit"),
    ],
)
def test_a_hostile_module_ends_no_reduction(written: str, instead: str) -> None:
    """A value that nothing defines, a constant of eight terabytes, a function that calls itself, parameters that fit nothing."""
    text = MODULE.replace(written, instead)
    assert text != MODULE
    for step in STEPS[:-1]:
        assert all(isinstance(each, Instance) for each in step(instance_of(text)))
