"""Which settings a recorded call gets, by what a library declares: the kinds are the same for each library."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from opera.arrays import numpy_dtype
from opera.extensions.generators.docter.constraints import ParameterConstraint, Signature, TargetApi, ValueType
from opera.extensions.generators.settings import kinds
from opera.extensions.generators.settings.conditions import combinations, conditions
from opera.extensions.generators.settings.recorded import Call, DtypeName, HeldTensor, Item, Setting, Settings

ROOT = Path(__file__).parents[3]
X = HeldTensor("float32", np.linspace(-1, 1, 24, dtype="float32").reshape(2, 3, 4))


def parameter(name: str, *names: str, required: bool = False, default: Any = None, **more: Any) -> ParameterConstraint:
    return ParameterConstraint(name, tuple(ValueType(each) for each in names), required=required, default=default, **more)


INPUT = parameter("self", "tensor", required=True)


def call(*items: Item, module: bool = False) -> Call:
    return Call("library.operator", items or (Item("call", "input", X),), module)


def settings(made: Call, *calls: Signature, build: Signature | None = None, doc: str = "", beside: tuple[Call, ...] = ()) -> list[Setting]:
    def target() -> None: ...

    target.__doc__ = doc
    api = TargetApi("library.operator", target, calls or ((INPUT,),), build)
    return Settings(api, [made, *beside], numpy_dtype, lambda call, dtype: {**call.context, "typed": dtype}).of(made)


def texts(found: list[Setting], factor: str) -> list[str]:
    return [each.value for each in found if each.factor == factor]


def value(found: list[Setting], factor: str, text: str, made: Call) -> Any:
    changed = next(each for each in found if (each.factor, each.value) == (factor, text)).of(made)
    assert changed is not None
    return changed


def test_a_flag_has_both_values_and_is_left_out_where_it_is_given() -> None:
    plain = call()
    assert texts(settings(plain, (INPUT, parameter("keepdim", "bool", default=False))), "call keepdim") == ["True"]
    given = call(Item("call", "input", X), Item("call", "keepdim", True, True))
    assert texts(settings(given, (INPUT, parameter("keepdim", "bool", default=False))), "call keepdim") == ["left out"]


def test_an_axis_is_each_of_the_rank_from_both_ends_and_a_list_of_axes_may_be_empty() -> None:
    assert texts(settings(call(), (INPUT, parameter("dim", "int", default=0))), "call dim") == ["-3", "-2", "-1", "1", "2"]
    found = texts(settings(call(), (INPUT, parameter("dim", "ints"))), "call dim")
    assert {"[]", "[-3]", "[2]", "[0, 1, 2]", "[2, 1, 0]"} <= set(found)


def test_an_axis_of_which_nothing_is_declared_is_a_number_or_a_list() -> None:
    assert {"-3", "[]", "[2, 1, 0]"} <= set(texts(settings(call(), (INPUT, parameter("axis"))), "call axis"))


def test_an_enumeration_has_the_documented_words() -> None:
    modes = parameter("mode", "string", default="nearest", choices=("nearest", "linear"))
    assert texts(settings(call(), (INPUT, modes)), "call mode") == ["'linear'"]
    loose = parameter("padding", "int", "string", default=0)
    found = texts(settings(call(), (INPUT, loose), doc="It is 'valid' or 'same'."), "call padding")
    assert {"'valid'", "'same'", "1", "-1"} <= set(found)
    assert "'same'" not in texts(settings(call(), (INPUT, parameter("padding", "int", default=0)), doc="'valid' or 'same'"), "call padding")


def test_a_number_has_the_boundaries_of_its_documented_range_and_the_numbers_of_other_calls() -> None:
    other = call(Item("call", "input", X), Item("call", "groups", 7))
    found = texts(settings(call(), (INPUT, parameter("groups", "int", default=1, low=1.0, high=4.0)), beside=(other,)), "call groups")
    assert found == ["7", "2", "4", "3"]  # none of the sizes 2, 3 and 4, nor a neighbour of one, is another number of that range
    share = parameter("p", "float", default=0.5, low=0.0, high=1.0)
    assert {"0.0", "1.0"} <= set(texts(settings(call(), (INPUT, share)), "call p"))


def test_a_list_of_numbers_gets_ones_is_turned_and_gets_empty() -> None:
    given = call(Item("call", "input", X), Item("call", "shifts", [2, 3], True))
    found = texts(settings(given, (INPUT, parameter("shifts", "ints", required=True))), "call shifts")
    assert {"[1, 1]", "[3, 2]", "[-3, -4]", "[]"} <= set(found)
    assert "left out" not in found


def test_an_optional_input_goes_and_comes_with_that_of_a_call_of_the_same_shapes() -> None:
    weight = HeldTensor("float32", np.ones(3, "float32"))
    given = call(Item("call", "input", X), Item("call", "weight", weight))
    declared = (INPUT, parameter("weight", "tensor"))
    found = settings(given, declared)
    assert value(found, "call weight", "left out", given).items == (Item("call", "input", X),)
    plain = call()
    borrowed = value(settings(plain, declared, beside=(given,)), "call weight", "float32[3]", plain)
    assert borrowed.items[-1] == Item("call", "weight", weight, keyword=True)
    other = call(Item("call", "input", HeldTensor("float32", X.array[0])), Item("call", "weight", weight))
    assert texts(settings(plain, declared, beside=(other,)), "call weight") == []


def test_what_follows_an_argument_that_is_left_out_is_passed_by_keyword() -> None:
    given = call(Item("call", "input", X), Item("call", "dim", 1), Item("call", "keepdim", True))
    declared = (INPUT, parameter("dim", "int"), parameter("keepdim", "bool", default=False))
    made = value(settings(given, declared), "call dim", "left out", given)
    assert made.items[1:] == (Item("call", "keepdim", True, keyword=True),)


def test_parameters_are_those_of_the_overloads_that_the_call_fits() -> None:
    scalar = (INPUT, parameter("other", "float", required=True), parameter("alpha", "float", default=1))
    tensor = (INPUT, parameter("exponent", "float", required=True), parameter("out_dtype", "dtype"))
    given = call(Item("call", "input", X), Item("call", "other", 2.0))
    factors = {each.factor for each in settings(given, scalar, tensor)}
    assert "call alpha" in factors
    assert not {"call exponent", "call out_dtype"} & factors


def test_inputs_change_their_dtype_together_and_one_by_one() -> None:
    two = call(Item("call", "input", X), Item("call", "other", X))
    found = settings(two, (INPUT, parameter("other", "tensor", required=True)))
    assert [each.dtype for _, each in value(found, "dtype of inputs", "int8", two).tensors()] == ["int8", "int8"]
    mixed = value(found, "dtype of other", "int8", two)
    assert [each.dtype for _, each in mixed.tensors()] == ["float32", "int8"]
    assert mixed.context == {"typed": "int8"}


def test_an_element_is_a_whole_number_that_floating_point_does_not_hold() -> None:
    two = call(Item("call", "input", X), Item("call", "other", X))
    found = settings(two, (INPUT, parameter("other", "tensor", required=True)))
    one, other = (tensor for _, tensor in value(found, "dtype of inputs", "int64 with 9007199254740993", two).tensors())
    assert (one.dtype, other.dtype) == ("int64", "int64")
    assert one.array.reshape(-1)[0] == 2**53 + 1 != other.array.reshape(-1)[0]
    assert X.array.reshape(-1)[0] != 2**53 + 1, "the recorded call keeps its tensor"
    empty = call(Item("call", "input", X._replace(array=X.array[:0])))
    (none,) = [each for each in settings(empty) if each.value == "int32 with 16777217"]
    assert none.of(empty) is None


def test_ranks_start_at_0_and_sizes_are_0_and_1() -> None:
    made = call()
    found = settings(made)
    ranks = {text: value(found, "rank of input", text, made).tensors()[0][1].array.shape for text in texts(found, "rank of input")}
    assert ranks == {"0": (), "1": (4,), "2": (3, 4), "4": (1, 2, 3, 4)}
    sizes = [value(found, "size of input", text, made).tensors()[0][1].array.shape for text in texts(found, "size of input")]
    assert sizes == [(1, 3, 4), (0, 3, 4), (2, 1, 4), (2, 0, 4), (2, 3, 1), (2, 3, 0)]


def test_a_python_number_stands_for_a_tensor_and_a_tensor_for_a_number() -> None:
    given = call(Item("call", "input", X), Item("call", "other", 2))
    found = settings(given, (INPUT, parameter("other", "float", required=True)), (INPUT, parameter("other", "tensor", required=True)))
    assert value(found, "scalar of input", "Python number", given).items[0].value == -1.0
    tensor = value(found, "tensor of other", "0-d", given).items[1].value
    assert (tensor.dtype, tensor.array.shape) == ("int64", ())
    assert not texts(settings(given, (INPUT, parameter("other", "float", required=True))), "tensor of other"), "only a number is declared"


def test_a_list_of_tensors_has_one_or_none_or_mixes_dtypes() -> None:
    given = call(Item("call", "tensors", [X, X]))
    found = settings(given, (parameter("tensors", "tensors", required=True),))
    assert value(found, "items of tensors", "none", given).items[0].value == []
    assert len(value(found, "items of tensors", "one", given).items[0].value) == 1
    mixed = value(found, "first dtype of tensors", "int32", given).items[0].value
    assert [each.dtype for each in mixed] == ["int32", "float32"]


def test_a_data_type_is_each_that_there_is() -> None:
    found = settings(call(), (INPUT, parameter("dtype", "dtype")))
    assert {"bool", "float16", "bfloat16", "complex64", "int64"} <= set(texts(found, "call dtype"))
    assert value(found, "call dtype", "int8", call()).items[-1] == Item("call", "dtype", DtypeName("int8"), keyword=True)


def test_constructors_have_settings_of_their_own() -> None:
    layer = call(Item("build", "units", 3), Item("call", "inputs", X), module=True)
    found = settings(
        layer,
        (parameter("inputs", required=True),),
        build=(parameter("units", "int", required=True), parameter("bias", "bool", default=True)),
    )
    made = value(found, "build bias", "False", layer)
    assert [(item.part, item.name) for item in made.items] == [("build", "units"), ("build", "bias"), ("call", "inputs")]


def test_a_call_that_would_be_too_large_is_no_setting() -> None:
    large = HeldTensor("float32", np.zeros((2, kinds.LARGEST), "float32"))
    made = call(Item("call", "input", large))
    found = settings(made)
    assert next(each for each in found if str(each) == "dtype of input=int8").of(made) is None
    assert next(each for each in found if str(each) == "size of input=0 in dimension 0").of(made) is not None


@pytest.mark.parametrize(("dtype", "least"), [("int8", 5), ("uint8", 5), ("int64", 5), ("bool", 2)])
def test_fractions_stay_apart_as_integers(dtype: str, least: int) -> None:
    made = kinds.cast(X.array, np.dtype(dtype))
    assert len(np.unique(made)) >= least
    assert abs(made.astype("float64")).max() < 10, "no sign is read as a large number"


def test_pairs_change_two_different_things_and_a_seed_gives_the_same() -> None:
    made = call()
    found = settings(made)
    numbers = [pair for pair, _ in kinds.variations(made, found, 30, "seed")]
    assert numbers == [pair for pair, _ in kinds.variations(made, found, 30, "seed")]
    assert numbers != [pair for pair, _ in kinds.variations(made, found, 30, "other")]
    pairs = [pair for pair in numbers if len(pair) == 2]
    assert 0 < len(pairs) <= 30
    assert all(found[one].factor != found[other].factor for one, other in pairs)


def test_calls_are_spread_evenly() -> None:
    assert kinds.spread(range(10), 3) == [0, 3, 6]
    assert kinds.spread([1, 2], 3) == [1, 2]


def test_integers_are_related_to_the_sizes_of_inputs_and_to_each_other() -> None:
    window = Item("call", "kernel_size", [3, 3])
    made = call(Item("call", "input", HeldTensor("float32", np.zeros((5, 5), "float32"))), window)
    found = settings(made, (INPUT, parameter("kernel_size", "ints"), parameter("stride", "int", default=1)))
    assert {"[5, 5]", "[6, 6]", "[4, 4]", "[3, 6]", "[3, 5]"} <= set(texts(found, "call kernel_size"))
    assert {"4", "5", "6", "3"} <= set(texts(found, "call stride"))


def test_a_relation_is_to_few_numbers_and_to_none_that_is_no_size() -> None:
    assert kinds.related([5, 5, 0, -2, 10**9]) == [5, 6, 4]
    assert len(kinds.related(range(10, 100, 10))) == 18
    assert kinds.related_lists([], [5]) == []
    assert [2, 6] in kinds.related_lists([2, 3], [5])


# Conditions of known bugs


def test_each_condition_names_causes_that_data_findings_has() -> None:
    tables = (ROOT / "data" / "findings").glob("*.toml")
    known = {row["cause"] for table in tables for row in tomllib.loads(table.read_text())["finding"]}
    for condition in conditions():
        assert condition.causes
        assert set(condition.causes) <= known, condition.name


@dataclass(frozen=True)
class Named:
    factor: str
    text: str

    def of(self, call: list[str]) -> list[str]:
        return [*call, self.text]

    def __str__(self) -> str:
        return self.text


def test_a_condition_pairs_settings_of_all_similar_operators_and_of_no_other() -> None:
    own = [Named("padding", "call padding='SAME'"), Named("strides", "call strides=[6, 6]"), Named("name", "call name='x'")]
    for api in ("tf.nn.conv2d", "torch.nn.functional.avg_pool2d", "ai.onnx.MaxPool"):
        assert (0, 1) in combinations(conditions(), api, own)
    assert combinations(conditions(), "tf.nn.relu", own) == []
    assert all(2 not in pair for pair in combinations(conditions(), "tf.nn.conv2d", own))


def test_with_combinations_a_setting_is_tried_alone_only_if_one_has_it() -> None:
    own = [Named(name, name) for name in "abc"]
    assert [numbers for numbers, _ in kinds.variations([], own, 9, "seed", [(0, 2)])] == [(0,), (2,), (0, 2)]
    assert len(list(kinds.variations([], own, 9, "seed"))) == 6
    assert list(kinds.variations([], own, 9, "seed", [])) == []
