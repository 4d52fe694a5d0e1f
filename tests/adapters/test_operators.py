"""No foreign code is called: an instance of any origin reaches only names that the list of its library admits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import torch
from onnx import TensorProto, helper, numpy_helper

from opera.instance import Argument, Call, Device, DType, Enum, Graph, Instance, Kind, Named, Tensor
from opera.models.operators import FOLDER, Operators, operators_of
from opera.models.template import Invalid
from opera.templates.keras.model import KerasTemplate
from opera.templates.onnx.model import OnnxTemplate
from opera.templates.pytorch.model import PyTorchTemplate
from opera.templates.tensorflow.model import TensorFlowTemplate

X = Tensor((2,), "float32", np.array([1, 2], "float32").tobytes())
WORDS = Tensor((2,), "string", b'["a", "b"]')


def run(template: Any, instance: Instance) -> None:
    model = template.build(instance, "key", 0)
    model.run_once()
    model.source("runtime")


def refused(template: Any, instance: Instance, reasons: tuple[str, ...] = ("not-an-operator",)) -> None:
    with pytest.raises(Invalid) as caught:
        run(template, instance)
    assert str(caught.value) in reasons


def function(library: str, api: str, *values: Any, **keywords: Any) -> Instance:
    given = [Argument(f"a{index}", value) for index, value in enumerate(values)]
    return Instance(library, api, Kind.FUNCTION, call=(*given, *(Argument(name, value, True) for name, value in keywords.items())))


@pytest.fixture
def mark(tmp_path: Path) -> Path:
    """A file that does not exist, and a folder whose code makes it when it is loaded."""
    (tmp_path / "hubconf.py").write_text("import pathlib\ndef run():\n    pathlib.Path(__file__).with_name('mark').touch()\n")
    (tmp_path / "words.txt").write_text("a\nb\n")
    return tmp_path / "mark"


PYTORCH: dict[str, tuple[Any, ...]] = {
    "torch.hub.load": ("FOLDER", "run", "source=local"),
    "torch.hub.load_state_dict_from_url": ("file://MARK",),
    "torch.hub.download_url_to_file": ("file://FOLDER/hubconf.py", "MARK"),
    "torch.hub.urlopen": ("file://FOLDER/hubconf.py",),
    "torch.load": ("FOLDER/hubconf.py",),
    "torch.save": (X, "MARK"),
    "torch.serialization.save": (X, "MARK"),
    "torch.from_file": ("MARK", "shared=True", "size=4"),
    "torch.ops.aten.from_file": ("MARK", True, 4),
    "torch.ops.aten.from_file.default": ("MARK", True, 4),
    "torch.ops.aten.from_file.out": ("MARK", True, 4),
    "torch.ops.aten.save": (X, "MARK"),
    "torch.ops.aten._from_blob": (0, [1]),
    "torch._from_blob": (0, [1]),
    "torch.ops.aten.set_grad_enabled": (False,),
    "torch.ops.load_library": ("FOLDER/hubconf.py",),
    "torch.classes.load_library": ("FOLDER/hubconf.py",),
    "torch.utils.cpp_extension.load_inline": ("name", "code"),
    "torch.utils.cpp_extension.load": ("name", "FOLDER/hubconf.py"),
    "torch.jit.load": ("FOLDER/hubconf.py",),
    "torch.jit.CompilationUnit": ("def f(): return 1",),
    "torch.CompilationUnit": ("def f(): return 1",),
    "torch.import_ir_module": ("MARK",),
    "torch.PyTorchFileWriter": ("MARK",),
    "torch.PyTorchFileReader": ("MARK",),
    "torch.package.PackageImporter": ("MARK",),
    "torch.package.PackageExporter": ("MARK",),
    "torch.UntypedStorage.from_file": ("MARK", True, 4),
    "torch.FloatStorage.from_file": ("MARK", True, 4),
    "torch.multiprocessing.spawn": (Named("torch.save"),),
    "torch.distributed.init_process_group": ("gloo",),
    "torch._import_dotted_name": ("os.system",),
    "torch.os.system": ("touch MARK",),
    "torch.nn.functional.importlib.import_module": ("hubconf",),
    "torch.nn.functional.warnings.warn": ("text",),
    "torch.sys.exit": (0,),
    "torch.nn.functional.handle_torch_function": (Named("torch.save"), [], X, "MARK"),
    "torch.Tensor.__class__": ("a", (), {}),
    "torch.Tensor.__init_subclass__": (),
    "torch.Tensor.__reduce_ex__": (X, 2),
    "torch.Tensor.__setstate__": (X, ()),
    "torch.Tensor.register_hook": (X, Named("torch.relu")),
    "torch.Tensor.new": (X,),
    "torch.Tensor": (),
    "torch.special.Tensor": (),
    "torch.fft.torch.save": (X, "MARK"),
    "torch.set_num_threads": (1,),
    "torch.set_default_dtype": (DType("float64"),),
    "torch.manual_seed": (1,),
    "torch.compile": (Named("torch.relu"),),
    "torch.ops.aten.add.default.py_impl": (1,),
    "torch.ops.aten.__class__": (),
    "builtins.eval": ("open('MARK', 'w')",),
    "builtins.open": ("MARK", "w"),
    "builtins.type": ("a", (), {}),
    "builtins.__import__": ("hubconf",),
    "operator.methodcaller": ("save",),
    "operator.attrgetter": ("__class__",),
    "os.system": ("touch MARK",),
    "torch..relu": (X,),
    "torch.relu ": (X,),
    "torch.nn.functional.relu(1)": (X,),
    "subprocess": (),
}


def filled(value: Any, mark: Path) -> Any:
    return value.replace("FOLDER", str(mark.parent)).replace("MARK", str(mark)) if isinstance(value, str) else value


def attack(library: str, api: str, given: tuple[Any, ...], mark: Path) -> Instance:
    keywords: dict[str, Any] = {}
    values: list[Any] = []
    for value in given:
        name, found, text = value.partition("=") if isinstance(value, str) and " " not in value else ("", "", "")
        if found and name.isidentifier():
            keywords[name] = {"True": True, "4": 4}.get(text, filled(text, mark))
        else:
            values.append(filled(value, mark))
    return function(library, api, *values, **keywords)


@pytest.mark.parametrize("api", PYTORCH)
@pytest.mark.parametrize("place", ["as the API", "as a call among the arguments", "as a function among the arguments", "deep in a list"])
def test_pytorch_calls_nothing_that_is_no_operator(api: str, place: str, mark: Path) -> None:
    instance = attack("pytorch", api, PYTORCH[api], mark)
    call = Call(api, tuple((each.name if each.keyword else None, each.value) for each in instance.call))
    if place == "as a call among the arguments":
        instance = function("pytorch", "torch.relu", call)
    elif place == "deep in a list":
        instance = function("pytorch", "torch.cat", [(X, {"a": slice(call, None)})])
    elif place == "as a function among the arguments" and api != "torch.Tensor":  # the type itself may be given
        instance = function("pytorch", "torch.nn.functional.triplet_margin_with_distance_loss", X, X, X, distance_function=Named(api))
    refused(PyTorchTemplate(), instance)
    assert not mark.exists()


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (DType("load"), "argument-not-rebuilt"),
        (DType("hub"), "argument-not-rebuilt"),
        (DType("os.system"), "argument-not-rebuilt"),
        (Device("cpu'); import os; ('"), "argument-not-rebuilt"),
        (Enum("torch.hub", "load"), "not-an-operator"),
        (Enum("torch.nn.functional.ScalingType", "mro"), "argument-not-rebuilt"),
        (Enum("torch.nn.Linear", "forward"), "argument-not-rebuilt"),
        (Enum("builtins.str", "join"), "argument-not-rebuilt"),
        (Named("torch.special"), "not-an-operator"),
        (Named("torch.fft.torch"), "argument-not-rebuilt"),
        (Named("torch.ops.aten._parse_qualified_name"), "argument-not-rebuilt"),
        (Call("torch.ops.aten._dir", ()), "argument-not-rebuilt"),
        (Call("builtins.str", ((None, "text"),)), "not-an-operator"),
    ],
    ids=repr,
)
def test_a_pytorch_argument_is_what_it_says_to_be(value: Any, reason: str) -> None:
    refused(PyTorchTemplate(), function("pytorch", "torch.sum", X, dtype=value), (reason,))


def described(module: Any, name: Any, config: Any = None, **more: Any) -> dict[str, Any]:
    return {"module": module, "class_name": name, "config": config or {}, "registered_name": None, **more}


def dense(activation: Any) -> Instance:
    return Instance("keras", "keras.layers.Dense", Kind.MODULE, (Argument("units", 1), Argument("activation", activation, True)), MATRIX)


MATRIX = (Argument("inputs", Tensor((1, 2), "float32", np.ones((1, 2), "float32").tobytes())),)
KERAS: dict[str, tuple[Any, ...]] = {
    "keras.utils.get_file": ("mark", "file://FOLDER/hubconf.py"),
    "keras.utils.save_img": ("MARK", X),
    "keras.saving.load_model": ("MARK",),
    "keras.models.load_model": ("MARK",),
    "keras.saving.deserialize_keras_object": (described("builtins", "function", "eval"),),
    "keras.config.enable_unsafe_deserialization": (),
    "keras.config.set_backend": ("jax",),
    "keras.layers.Lambda": (Named("keras.activations.relu"),),
    "keras.layers.TFSMLayer": ("MARK",),
    "keras.layers.TorchModuleWrapper": (b"",),
    "keras.layers.JaxLayer": (Named("keras.activations.relu"),),
    "keras.layers.deserialize": (described("keras.layers", "TFSMLayer"),),
    "keras.activations.get": ("relu",),
    "keras.activations.deserialize": (described("keras.layers", "Lambda"),),
    "keras.callbacks.ModelCheckpoint": ("MARK",),
    "keras.src.utils.file_utils.os.system": ("touch MARK",),
    "keras.src.saving.saving_lib.load_model": ("MARK",),
    "keras.src.utils.python_utils.func_load": ("code",),
    "keras.quantizers.GPTQConfig": ("wikitext2",),
    "keras.ops.__loader__": (),
    "keras.layers.Dense.__init__.__globals__": (),
    "keras.Model": (),
    "torch.save": (X, "MARK"),
    "tf.io.write_file": ("MARK", "text"),
}


@pytest.mark.parametrize("api", KERAS)
@pytest.mark.parametrize("place", ["as the API", "as a layer", "as a call among the arguments", "as a function among the arguments"])
def test_keras_calls_nothing_that_is_no_operator(api: str, place: str, mark: Path) -> None:
    given = [filled(value, mark) for value in KERAS[api]]
    instance = function("keras", api, *given)
    if place == "as a layer":
        instance = Instance("keras", api, Kind.MODULE, instance.call, MATRIX)
    elif place == "as a call among the arguments":
        instance = dense(Call(api, tuple((None, value) for value in given)))
    elif place == "as a function among the arguments":
        instance = dense(Named(api))
    refused(KerasTemplate(), instance)
    assert not mark.exists()


@pytest.mark.parametrize(
    "activation",
    [
        described("keras.layers", "Lambda", {"function": described(None, "__lambda__", {"value": "4wEAAA=="})}),
        described("keras.layers", "TFSMLayer", {"filepath": "/tmp"}),
        described("keras.utils", "get_file"),
        described("builtins", "function", "get_file"),
        described("keras.src.utils.file_utils", "get_file"),
        described("os", "system"),
        described(None, "relu"),
        described("keras.layers", ["Dense"]),
        described("keras.layers", "Dense", registered_name="package>Dense"),
        {"class_name": "Lambda", "config": {}},
        [{"deep": described("keras.layers", "JaxLayer")}],
        Call("keras.activations.linear", ((None, described("os", "system")),)),
        described("keras.layers", "Dense", {"activation": described("os", "system")}),
        described("keras.losses", "function", "deserialize"),
        described("keras.losses", "function", "__lambda__"),
        described("keras.layers", "StringLookup", {"vocabulary": "/etc/hostname"}),
        Call("keras.layers.StringLookup", ((None, "/etc/hostname"),)),
        Call("keras.layers.StringLookup", (("vocabulary", "/etc/hostname"),)),
    ],
    ids=repr,
)
def test_keras_makes_no_object_of_a_foreign_description(activation: Any) -> None:
    refused(KerasTemplate(), dense(activation))


def test_keras_takes_a_function_that_is_described_by_its_name() -> None:
    run(KerasTemplate(), dense(described("keras.activations", "function", "relu")))


def test_keras_makes_the_objects_that_its_own_tests_describe() -> None:
    zeros = described("keras.initializers", "Zeros", shared_object_id=1)
    init = (Argument("units", 1), Argument("kernel_initializer", zeros, True))
    run(KerasTemplate(), Instance("keras", "keras.layers.Dense", Kind.MODULE, init, MATRIX))


@pytest.mark.parametrize("layer", ["StringLookup", "TextVectorization", "IntegerLookup"])
@pytest.mark.parametrize("how", ["by name", "by position", "by another call"])
def test_a_vocabulary_is_read_from_no_file(layer: str, how: str, mark: Path) -> None:
    path: Any = str(mark.with_name("words.txt"))
    places = {"StringLookup": (None, 1, None, "[UNK]"), "IntegerLookup": (None, 1, None, -1)}
    before = places.get(layer, (None, None, "whitespace", None, "int", None, False))
    init = (*(Argument(f"a{index}", value) for index, value in enumerate(before)), Argument("max_tokens", path))
    if how != "by position":
        value = Call("keras.activations.linear", ((None, path),)) if how == "by another call" else path
        init = (Argument("vocabulary", value, True),)
    refused(KerasTemplate(), Instance("keras", f"keras.layers.{layer}", Kind.MODULE, init, (Argument("inputs", WORDS),)))


def test_a_description_in_the_context_is_looked_at() -> None:
    instance = Instance(
        "keras", "keras.ops.abs", Kind.FUNCTION, call=(Argument("x", X),), context=(("dtype_policy", described("os", "x")),)
    )
    refused(KerasTemplate(), instance)


TENSORFLOW: dict[str, tuple[Any, ...]] = {
    "tf.io.write_file": ("MARK", "text"),
    "tf.io.read_file": ("FOLDER/words.txt",),
    "tf.io.matching_files": ("FOLDER/*",),
    "tf.io.gfile.makedirs": ("MARK",),
    "tf.io.gfile.rmtree": ("FOLDER",),
    "tf.io.decode_proto": (b"", "M", [], [], "FOLDER/words.txt"),
    "tf.raw_ops.WriteFile": ("filename=MARK", "contents=a"),
    "tf.raw_ops.ReadFile": ("filename=MARK",),
    "tf.raw_ops.PrintV2": ("input=a", "output_stream=file://MARK"),
    "tf.raw_ops.Skipgram": ("filename=FOLDER/words.txt",),
    "tf.raw_ops.ImmutableConst": ("memory_region_name=FOLDER/words.txt",),
    "tf.raw_ops.GenerateVocabRemapping": ("a",),
    "tf.raw_ops.DebugIdentityV3": ("input=a",),
    "tf.raw_ops.Abort": (),
    "tf.raw_ops.PyFunc": (),
    "tf.raw_ops.SaveV2": (),
    "tf.print": ("text", "output_stream=file://MARK"),
    "tf.py_function": (Named("tf.io.read_file"), [], []),
    "tf.numpy_function": (Named("tf.io.read_file"), [], []),
    "tf.load_op_library": ("MARK",),
    "tf.load_library": ("MARK",),
    "tf.saved_model.load": ("MARK",),
    "tf.saved_model.save": (X, "MARK"),
    "tf.keras.utils.get_file": ("mark", "file://FOLDER/hubconf.py"),
    "tf.summary.create_file_writer": ("MARK",),
    "tf.data.TextLineDataset": ("FOLDER/words.txt",),
    "tf.lookup.TextFileInitializer": ("FOLDER/words.txt",),
    "tf.nn.fixed_unigram_candidate_sampler": ("vocab_file=FOLDER/words.txt",),
    "tf.random.fixed_unigram_candidate_sampler": ("vocab_file=FOLDER/words.txt",),
    "tf.config.threading.set_inter_op_parallelism_threads": (1,),
    "tf.experimental.numpy.experimental_enable_numpy_behavior": (),
    "tf.function": (Named("tf.math.abs"),),
    "tf.sysconfig._os.system": ("touch MARK",),
    "tf.distribute.Server": (),
    "tf.Tensor.__class__": (),
    "tf.math._sys.exit": (),
    "builtins.open": ("MARK", "w"),
}


@pytest.mark.parametrize("api", TENSORFLOW)
@pytest.mark.parametrize("place", ["as the API", "as a call among the arguments", "as a function among the arguments"])
def test_tensorflow_calls_nothing_that_is_no_operator(api: str, place: str, mark: Path) -> None:
    instance = attack("tensorflow", api, TENSORFLOW[api], mark)
    call = Call(api, tuple((each.name if each.keyword else None, each.value) for each in instance.call))
    if place == "as a call among the arguments":
        instance = function("tensorflow", "tf.math.abs", call)
    elif place == "as a function among the arguments":
        instance = function("tensorflow", "tf.map_fn", Named(api), X)
    refused(TensorFlowTemplate(), instance)
    assert not mark.exists()


def node(api: str, *, attributes: dict[str, Any] | None = None, **context: Any) -> Instance:
    init = tuple(Argument(name, value) for name, value in (attributes or {}).items())
    settings = {"opset": 18, "outputs": [True], **context}
    return Instance("onnx", api, Kind.NODE, init, (Argument("X", X),), tuple(settings.items()))


def graph(*nodes: onnx.NodeProto, constant: onnx.TensorProto | None = None, functions: Any = (), domain: str = "") -> Instance:
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in "xy"]
    made = helper.make_graph(nodes, "g", values[:1], values[1:], [] if constant is None else [constant])
    proto = helper.make_model(made, opset_imports=[helper.make_opsetid("", 18), *([helper.make_opsetid(domain, 1)] if domain else [])])
    proto.functions.extend(functions)
    context = (("graph", Graph("onnx.ModelProto", proto.SerializeToString())),)
    return Instance("onnx", "ai.onnx.Add", Kind.GRAPH, call=(Argument("x", X),), context=context)


def external(path: str = "/etc/hostname") -> onnx.TensorProto:
    tensor = numpy_helper.from_array(np.ones(2, "float32"), "c")
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value=path)
    return tensor


def unmarked() -> onnx.TensorProto:
    tensor = external()
    tensor.ClearField("data_location")
    return tensor


def branch(*nodes: onnx.NodeProto, constant: onnx.TensorProto | None = None) -> onnx.GraphProto:
    constants = [] if constant is None else [constant]
    return helper.make_graph(nodes, "b", [], [helper.make_tensor_value_info("z", TensorProto.FLOAT, [2])], constants)


def body(domain: str, *nodes: onnx.NodeProto) -> onnx.FunctionProto:
    return helper.make_function(domain, "Own", ["x"], ["y"], list(nodes), [helper.make_opsetid("", 18)])


RELU = helper.make_node("Relu", ["x"], ["y"])
FOREIGN = helper.make_node("Run", ["x"], ["z"], domain="evil")
SERIALISED = branch(FOREIGN).SerializeToString()
FILED = branch(helper.make_node("Identity", ["c"], ["z"]), constant=external()).SerializeToString()
ONNX: dict[str, Instance] = {
    "an API of a foreign domain": node("evil.Run"),
    "an API of ONNX Runtime's": node("com.microsoft.Gelu"),
    "an API that does not exist": node("ai.onnx.NoSuchOperator"),
    "an API with code in its domain": node('ai.onnx"); import os; ("x.Relu'),
    "an API with a quote": node('ai.onnx.Re"lu'),
    "an API of Python's": node("os.system"),
    "an import of a foreign domain": node("ai.onnx.Relu", opsets={"evil": 1}),
    "a subgraph with a foreign node": node("ai.onnx.If", attributes={"then_branch": Graph("onnx.GraphProto", SERIALISED)}),
    "subgraphs with a foreign node": node("ai.onnx.If", attributes={"branches": [Graph("onnx.GraphProto", SERIALISED)]}),
    "a subgraph with external data": node("ai.onnx.If", attributes={"then_branch": Graph("onnx.GraphProto", FILED)}),
    "a graph of a foreign node": graph(helper.make_node("Run", ["x"], ["y"], domain="evil")),
    "a graph that imports a foreign domain": graph(RELU, domain="evil"),
    "a foreign node deep inside": graph(helper.make_node("If", ["x"], ["y"], then_branch=branch(FOREIGN), else_branch=branch(FOREIGN))),
    "a function of a foreign domain": graph(helper.make_node("Own", ["x"], ["y"], domain="evil"), functions=[body("evil", RELU)]),
    "a foreign node in a function": graph(RELU, functions=[body("", FOREIGN)]),
    "external data": graph(helper.make_node("Add", ["x", "c"], ["y"]), constant=external()),
    "external data that does not say so": graph(helper.make_node("Add", ["x", "c"], ["y"]), constant=unmarked()),
    "external data in an attribute": graph(helper.make_node("Constant", [], ["y"], value=external("../secret"))),
}  # fmt: skip


@pytest.mark.parametrize("name", ONNX)
def test_onnx_holds_nothing_that_is_not_of_the_standard(name: str) -> None:
    refused(OnnxTemplate(), ONNX[name])


@pytest.mark.parametrize("kind", ["onnx.ModelProto.x", "os.system", "GraphProto", "onnx.FunctionProto", "onnx.load_model"])
def test_a_subgraph_is_of_a_known_format(kind: str) -> None:
    refused(OnnxTemplate(), node("ai.onnx.If", attributes={"then_branch": Graph(kind, b"")}), ("graph-not-recorded",))
    made = Instance("onnx", "ai.onnx.Add", Kind.GRAPH, call=(Argument("x", X),), context=(("graph", Graph(kind, b"")),))
    refused(OnnxTemplate(), made, ("graph-not-recorded",))


# The lists themselves.


@pytest.mark.parametrize("library", sorted(path.stem for path in FOLDER.glob("*.toml")))
def test_every_list_can_be_read_and_gives_its_reasons(library: str) -> None:
    assert operators_of(library).objection("os.system") is not None


@pytest.mark.parametrize(
    ("path", "admitted"),
    [
        ("lib.add", True), ("lib.add.more", False), ("lib._add", False), ("lib.__add__", False), ("lib._kept", True), ("lib.load", False),
        ("lib.load.file", False), ("lib.sub.any", True), ("lib.sub", False), ("other.add", False), ("lib", False), ("lib.", False),
        ("lib.sub.a(b)", False), ("lib.sub.class", False), ("lib.sub.\uff41", False), ("lib.inf", False), ("", False),
    ],
)  # fmt: skip
def test_names_are_matched_part_by_part(path: str, admitted: bool) -> None:
    rows = [{"below": "lib", "names": ["add", "_kept", "l*"], "reason": "r"}, {"below": "lib.sub", "names": ["*"], "reason": "r"}]
    refusals = [{"below": "lib", "names": ["load"], "reason": "reads a file"}]
    values = [{"below": "lib", "names": ["inf"], "reason": "a number"}]
    found = Operators("lib", {"schema": 1, "library": "lib", "operators": rows, "refused": refusals, "values": values})
    assert (found.objection(path) is None) == admitted
    assert found.objection("lib.inf", called=False) is None
    assert found.objection("lib.load", called=False) == "lib.load is refused: reads a file"


@pytest.mark.parametrize(
    "table", [{"schema": 2}, {"operator": []}, {"operators": [{"below": "lib", "names": ["add"]}]}], ids=["version", "key", "no reason"]
)
def test_a_malformed_list_is_an_error(table: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="lib"):
        Operators("lib", {"schema": 1, "library": "lib", **table})


def test_every_function_on_tensors_of_this_pytorch_is_decided() -> None:
    """A newer PyTorch has more of them: each needs a row, or a reason to be refused."""
    names = [name for name in dir(torch._C._VariableFunctions) if not name.startswith("__")]
    whys = {name: operators_of("pytorch").objection(f"torch.{name}") for name in names}
    assert [name for name, why in whys.items() if why is not None and " is refused: " not in why] == []


def test_nothing_in_the_namespace_of_the_dispatcher_is_admitted_that_it_does_not_dispatch() -> None:
    dispatched = {name.partition("::")[2].partition(".")[0] for name in torch._C._dispatch_get_all_op_names()}
    others = {schema.name.partition("::")[2] for schema in torch._C._jit_get_all_schemas() if schema.name.startswith("aten::")} - dispatched
    assert [name for name in others if operators_of("pytorch").objection(f"torch.ops.aten.{name}") is None] == []
