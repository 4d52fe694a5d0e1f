"""What the ONNX recorder promises, on all node tests that the installed ONNX ships."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from opera.extract.description import INSTRUMENTATION
from opera.instance import Graph, Instance, Kind, Tensor, decode_instance, digest, encode_instance
from opera.instrumentation.onnx_graphs import canonical_model
from opera.instrumentation.onnx_values import dtype_names, encode
from opera.instrumentation.tensors import DTYPE_BITS

NUMBERS = {name: number for number, name in dtype_names().items()}


@pytest.fixture(scope="module")
def instances(node_tests: list[Any]) -> dict[str, Instance]:
    found = (line for line in node_tests if "instance" in line and not line["test"].endswith("::nodes"))
    return {line["test"].split("::")[1]: decode_instance(line["instance"]) for line in found}


def array(tensor: Tensor) -> Any:
    assert tensor.data is not None
    if tensor.dtype == "string":
        return np.array(json.loads(tensor.data), dtype=object).reshape(tensor.shape)
    kind = np.dtype(getattr(ml_dtypes, tensor.dtype, None) or tensor.dtype)
    return np.frombuffer(tensor.data, dtype=kind).reshape(tensor.shape)


def type_of(value: Any, declared: Any) -> Any:
    if declared is not None:
        return onnx.TypeProto.FromString(declared.data)
    return helper.make_tensor_type_proto(NUMBERS[value.dtype], value.shape)


def attribute(name: str, value: Any) -> Any:
    def plain(item: Any) -> Any:
        if isinstance(item, Tensor):
            return numpy_helper.from_array(array(item))
        return getattr(onnx, item.format.removeprefix("onnx.")).FromString(item.data) if isinstance(item, Graph) else item

    return helper.make_attribute(name, [plain(item) for item in value] if isinstance(value, list) else plain(value))


def rebuild(instance: Instance) -> Any:
    """The model of an instance, from nothing but the instance."""
    if instance.kind is Kind.GRAPH:
        return onnx.ModelProto.FromString(instance.context_value("graph").data)
    domain, operator = instance.api.rsplit(".", 1)
    domain = "" if domain == "ai.onnx" else domain
    inputs = [f"input{number}" if item.value is not None else "" for number, item in enumerate(instance.call)]
    types = instance.context_value("input_types") or [None] * len(inputs)
    inputs = [name or (f"input{number}" if types[number] else "") for number, name in enumerate(inputs)]
    present = instance.context_value("outputs")
    outputs = [f"output{number}" if there else "" for number, there in enumerate(present)]
    out_types = instance.context_value("output_types") or [None] * len(outputs)
    assert instance.expected is not None
    infos = [
        [
            helper.make_value_info(name, type_of(value, declared))
            for name, value, declared in zip(names, slots, declarations, strict=True)
            if name
        ]
        for names, slots, declarations in (
            (inputs, [item.value for item in instance.call], types),
            (outputs, instance.expected, out_types),
        )
    ]
    node = helper.make_node(operator, inputs, outputs, domain=domain)
    node.attribute.extend(attribute(item.name, item.value) for item in instance.init)
    opsets = instance.context_value("opsets") or {domain: instance.context_value("opset")}
    imports = [helper.make_opsetid("" if name == "ai.onnx" else name, version) for name, version in opsets.items()]
    return helper.make_model(helper.make_graph([node], "test", *infos), opset_imports=imports)


def test_every_case_is_recorded_and_none_is_dropped(node_tests: list[Any]) -> None:
    assert not [line for line in node_tests if "dropped" in line]
    written = sum("instance" in line for line in node_tests) + sum(line.get("calls", 0) for line in node_tests if "again" in line)
    assert node_tests[-1] == {"calls": {"node-tests": written}}
    assert written > 1500


def test_every_document_decodes_and_encodes_to_itself(node_tests: list[Any]) -> None:
    for line in node_tests:
        if "instance" in line:
            normal = {key: value for key, value in line["instance"].items() if value != [] or key == "call"}
            assert encode_instance(decode_instance(line["instance"])) == normal


def test_models_rebuilt_from_instances_alone_pass_the_checker(instances: dict[str, Instance]) -> None:
    for name, instance in instances.items():
        try:
            onnx.checker.check_model(rebuild(instance), full_check=False)
        except Exception as error:
            raise AssertionError(f"{name}: {error}") from error


@pytest.mark.parametrize(
    "name",
    [
        "test_add",
        "test_conv_with_strides_padding",
        "test_split_variable_parts_2d_opset18",
        "test_if",
        "test_cast_FLOAT_to_BFLOAT16",
        "test_concat_3d_axis_0",
        "test_constant_pad_axes",
        "test_string_split_basic",
        "test_sequence_insert_at_back",
        "test_clip_default_max",
        "test_quantizelinear_int4",
        "test_gelu_default_1_expanded",
        "test_ai_onnx_ml_label_encoder_string_int",
    ],
)
def test_rebuilt_models_compute_the_expected_outputs(instances: dict[str, Instance], name: str) -> None:
    instance = instances[name]
    model = rebuild(instance)

    def feed(value: Any) -> Any:
        return [array(item) for item in value] if isinstance(value, list) else array(value)

    values = [feed(item.value) for item in instance.call if item.value is not None]
    found = ReferenceEvaluator(model).run(None, dict(zip((info.name for info in model.graph.input), values, strict=True)))
    assert instance.expected is not None
    for actual, expected in zip(found, [item for item in instance.expected if item is not None], strict=True):
        pairs = zip(actual, expected, strict=True) if isinstance(expected, list) else [(actual, expected)]
        for one, other in pairs:
            if np.asarray(one).dtype.kind in "OUT":
                assert np.asarray(one).tolist() == array(other).tolist()
            else:
                np.testing.assert_allclose(np.asarray(one).astype(np.float64), array(other).astype(np.float64), rtol=1e-3)


@pytest.mark.parametrize(
    "dtype",
    [
        "bfloat16",
        "float8_e4m3fn",
        "float8_e4m3fnuz",
        "float8_e5m2",
        "float8_e5m2fnuz",
        "float8_e8m0fnu",
        "int4",
        "uint4",
        "int2",
        "uint2",
        "float4_e2m1fn",
    ],
)
def test_odd_dtypes_keep_one_element_per_byte_whether_packed_or_not(dtype: str) -> None:
    numbers = np.array([1, 0, 1], dtype=getattr(ml_dtypes, dtype))
    packed: TensorProto = numpy_helper.from_array(numbers)
    assert packed.data_type == NUMBERS[dtype]
    assert encode(packed) == encode(numbers)
    tensor = decode_instance(
        {"schema": "instance/1", "library": "onnx", "api": "a.B", "kind": "node", "call": [{"name": "x", "value": encode(packed)}]}
    )
    assert array(tensor.call[0].value).tobytes() == numbers.tobytes()


def test_the_dtype_names_are_those_of_the_instance_format() -> None:
    assert set(NUMBERS) <= set(DTYPE_BITS)


def test_zero_dimensions_stay_zero(instances: dict[str, Instance]) -> None:
    assert instances["test_constant_pad"].call[2].value.shape == ()


def test_omitted_optional_inputs_and_outputs_keep_their_slots(instances: dict[str, Instance]) -> None:
    clip = instances["test_clip_default_max"]
    assert [(item.name, item.value is None) for item in clip.call] == [("input", False), ("min", True), ("max", False)]
    assert instances["test_batchnorm_example"].context_value("outputs") == [True]


def test_variadic_inputs_repeat_their_name(instances: dict[str, Instance]) -> None:
    assert [item.name for item in instances["test_sum_example"].call] == ["data_0"] * 3


def test_a_function_body_belongs_to_the_operator_that_it_spells_out(instances: dict[str, Instance]) -> None:
    body = instances["test_gelu_default_1_expanded"]
    assert (body.kind, body.api) == (Kind.GRAPH, "ai.onnx.Gelu")


def test_the_nodes_of_a_function_body_are_instances_with_the_values_that_they_have_in_it(node_tests: list[Any]) -> None:
    whole = [line for line in node_tests if "instance" in line]
    inner = [decode_instance(line["instance"]) for line in whole if line["test"].endswith("test_gelu_default_1_expanded::0::nodes")]
    assert {item.operator for item in inner} >= {"Erf", "Div", "Sqrt"}, "others were seen before, in tests of their own"
    (error,) = (item for item in inner if item.operator == "Erf")
    assert error.kind is Kind.NODE
    given, (expected,) = array(error.call[0].value), error.expected or ()
    np.testing.assert_allclose(array(expected), np.vectorize(math.erf)(given), rtol=1e-6)


def test_operators_that_occur_only_inside_others_are_seen(node_tests: list[Any]) -> None:
    apis = {line["instance"]["api"] for line in node_tests if "instance" in line}
    assert {"ai.onnx.SequenceEmpty", "ai.onnx.SequenceLength", "ai.onnx.RandomUniformLike"} <= apis
    assert len(apis) >= 200


def test_the_canonical_form_does_not_depend_on_names() -> None:
    def model(first: str, middle: str, last: str) -> Any:
        info = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in (first, last)]
        nodes = [helper.make_node("Abs", [first], [middle], name=middle), helper.make_node("Neg", [middle], [last])]
        return helper.make_model(helper.make_graph(nodes, middle, info[:1], info[1:]), producer_name=first)

    one, other = (canonical_model(model(*names)).SerializeToString(deterministic=True) for names in (("a", "b", "c"), ("x", "y", "z")))
    assert one == other


def test_identity_is_the_same_in_every_run(instances: dict[str, Instance]) -> None:
    assert digest(instances["test_if"]) == digest(decode_instance(encode_instance(instances["test_if"])))


def test_the_folder_of_recorders_never_hides_a_library() -> None:
    """The package has modules called onnx and pytorch; the host above imported the real onnx from inside it."""
    folder = Path(INSTRUMENTATION)
    assert (folder / "onnx.py").is_file()
    code = "import runpy, sys; runpy.run_path(sys.argv[1])['register'](); import onnx; print(hasattr(onnx, 'ModelProto'))"
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder / "__main__.py")], capture_output=True, text=True, cwd=folder, check=False
    )
    assert done.stdout.strip() == "True", done.stderr
