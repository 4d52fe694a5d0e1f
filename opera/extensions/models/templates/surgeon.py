"""Cuts an ONNX model into pieces whose inputs are the values that the whole model has there. Runs in a worker of the library onnx.

A piece is a model of some of the nodes. Each value that a node of it reads comes directly from another node of the piece, or, where the
edge is cut, from an input that is fed with the true value. Cut at every edge, one model holds all operators apart.
"""

from __future__ import annotations

import importlib
import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from opera.arrays import as_array, is_array
from opera.extensions.models.error import error_of
from opera.instrumentation import onnx as recorder
from opera.workers.child import Stages
from opera.workers.protocol import Message

onnx: Any = importlib.import_module("onnx")

MOST_BYTES = 2**30
"""Largest model with its weights: ONNX's own format ends at 2 GiB, and a piece holds weights and values."""
_GROUP = 256 * 2**20
"""Bytes of intermediate values that one run of the model hands out."""
_NUDGE = 3e-6
"""By how much the inputs are moved, up and down, to see what rounding does to the model: as much as compilers differ in float32."""
MOST_NOISE = 1.0
"""Where rounding moves a value by more, it is no result: the true value itself is unknown."""
_SMALL = 1
"""Highest rank of integers that a converter may need as constants: shapes, axes, sizes."""
_OF_SHAPES = ("Shape", "Size")
"""Operators whose results do not depend on the values of their inputs."""


class ModelRefused(Exception):
    """The model cannot be checked; the message says what helps."""


class Surgeon:
    """Answers `{"nodes": [...], "cut": [...] or null}` with the document of a piece, and `{"node": n}` with that of one node.

    Args:
        options: `path`; `inputs`, a file of numpy with values by name, or null; `sizes` of symbolic dimensions by name; `seed`.
    """

    spent = False

    def __init__(self, options: Message) -> None:
        self._path = Path(options["path"])
        self._model = _inlined(_read(self._path))
        given = {} if options["inputs"] is None else _arrays(Path(options["inputs"]))
        self._feeds = _feeds(self._model, given, options["sizes"], np.random.default_rng(int(options["seed"])))
        self._weights = {each.name: each for each in self._model.graph.initializer}
        self._nodes = list(self._model.graph.node)
        self._known: dict[str, Any] = {}

    def ready(self) -> Message:
        """Runs the model once; tells its nodes, and which of them can be cut out."""
        known = {**self._feeds, **{name: onnx.numpy_helper.to_array(each) for name, each in self._weights.items()}}
        self._known = {**known, **_values(self._model, self._feeds)}
        self._noise = dict[str, float]()
        for amount in (_NUDGE, -_NUDGE):
            moved = _values(self._model, {name: _nudged(value, amount) for name, value in self._feeds.items()})
            errors = {name: min(error_of(self._known[name], value), MOST_NOISE) for name, value in moved.items()}
            self._noise = {name: max(error, self._noise.get(name, 0.0)) for name, error in errors.items()}
        self._fixed = _independent(self._nodes, set(self._feeds))
        return {
            "versions": {"onnx": str(onnx.__version__)},
            "nodes": [
                {
                    "name": str(node.name),
                    "operator": recorder.api_name(node),
                    "inputs": [name for name in node.input if name and name not in self._weights],
                    "outputs": [name for name in node.output if name],
                    "why": self._why_not(node),
                }
                for node in self._nodes
            ],
            "outputs": [each.name for each in self._model.graph.output],
        }

    def handle(self, task: Message, stages: Stages) -> Message:
        """The document of a piece, with the noise of each output where edges are whole."""
        stages.enter("cut")
        if "node" in task:
            model, inputs, outputs, names = self._piece([int(task["node"])], None, bake=False)
            return {"document": recorder.node_document(model, inputs, outputs)}
        cut = None if task["cut"] is None else set(task["cut"])
        model, inputs, outputs, names = self._piece([int(each) for each in task["nodes"]], cut, bake=True)
        noise = [] if cut is None else [self._noise.get(name, 0.0) for name in names]
        return {"document": recorder.graph_document(model, f"model.{self._path.stem}", inputs, outputs), "noise": noise}

    def _why_not(self, node: Any) -> str:
        """Why a node has no piece of its own; empty where it has one."""
        if any(each.type in (onnx.AttributeProto.GRAPH, onnx.AttributeProto.GRAPHS) for each in node.attribute):
            return "it has a graph inside"
        if not [name for name in node.input if name and name not in self._weights]:
            return "it is a constant"
        odd = next((name for name in (*node.input, *node.output) if name and not is_array(self._known.get(name))), None)
        return f"the value {odd!r} is no tensor that numpy holds" if odd is not None else ""

    def _piece(self, chosen: Sequence[int], cut: set[str] | None, *, bake: bool) -> tuple[Any, list[Any], list[Any], list[str]]:
        """Model, inputs, expected outputs and names of these of the nodes *chosen*; *cut* None cuts every edge."""
        nodes = [self._nodes[each] for each in chosen]
        made = {name for node in nodes for name in node.output if name}
        own = {each.name for each in self._model.graph.output}
        direct = set[str]() if cut is None else made - cut
        inputs, weights, copies = dict[str, Any](), dict[str, Any](), list[Any]()
        for node in nodes:
            copy = onnx.NodeProto()
            copy.CopyFrom(node)
            copy.input[:] = [self._source(name, direct, inputs, weights, bake=bake) for name in node.input]
            copies.append(copy)
        inside = {name for node in nodes for name in _read_inside(node)}
        for name in sorted(inside - made):  # a graph inside of a node reads values by the names that they have
            if name in self._weights:
                weights[name] = self._weights[name]
            elif name in self._known:
                inputs[name] = self._known[name]
        read = inside | {name for node in nodes for name in node.input}
        wanted = [name for node in nodes for name in node.output if name and (name in own or name not in direct or name not in read)]
        graph = onnx.helper.make_graph(
            copies, "piece", [_info(name, value) for name, value in inputs.items()],
            [_info(name, self._known[name]) for name in wanted], [*weights.values()],
        )  # fmt: skip
        model = onnx.helper.make_model(graph, opset_imports=self._model.opset_import, ir_version=self._model.ir_version)
        return model, list(inputs.values()), [self._known[name] for name in wanted], wanted

    def _source(self, name: str, direct: set[str], inputs: dict[str, Any], weights: dict[str, Any], *, bake: bool) -> str:
        """The name under which a piece has the value *name*, which becomes an input or a constant where it must."""
        if not name or name in direct:
            return name
        if name in self._weights and bake:
            weights[name] = self._weights[name]
            return name
        value, copy = self._known[name], f"{name}__c"
        if bake and name in self._fixed and value.dtype.kind in "iu" and value.ndim <= _SMALL:
            weights[copy] = onnx.numpy_helper.from_array(value, copy)
        else:
            inputs[copy] = value
        return copy


def _read(path: Path) -> Any:
    """The model with its weights, checked.

    Raises:
        ModelRefused: the file is no model of ONNX, or lacks its weights, or is too large, or has operators that ONNX does not define.
    """
    if path.stat().st_size > MOST_BYTES:
        raise ModelRefused(f"{path.name} has {path.stat().st_size:,} bytes; OPERA checks models up to {MOST_BYTES:,}: check a part of it")
    try:
        bare = onnx.load(str(path), load_external_data=False)
    except Exception as error:
        raise ModelRefused(f"{path.name} is no model of ONNX, or is cut off: {_line(error)}") from error
    if not bare.graph.node:
        raise ModelRefused(f"{path.name} has no nodes, so it is no model of ONNX; export the model again")
    size = sum(math.prod(each.dims) * 8 for each in bare.graph.initializer if each.data_location == onnx.TensorProto.EXTERNAL)
    if size > 2 * MOST_BYTES:
        raise ModelRefused(
            f"the weights of {path.name} have about {size:,} bytes; OPERA checks models up to {MOST_BYTES:,}: check a part of it"
        )
    try:
        onnx.load_external_data_for_model(bare, str(path.parent))
    except Exception as error:
        raise ModelRefused(f"{path.name} lacks weights: {_line(error)}; put the file of the weights into its folder") from error
    versions = {entry.domain: entry.version for entry in bare.opset_import}
    local = {(each.domain, each.name) for each in bare.functions}
    strange = sorted({
        recorder.api_name(node) for node in bare.graph.node
        if (node.domain, node.op_type) not in local and not _is_defined(node, versions)
    })  # fmt: skip
    if strange:
        raise ModelRefused(f"{path.name} has operators that ONNX does not define: {', '.join(strange[:10])}; export it without them")
    drawing = next((node for node in bare.graph.node if _draws(node, versions)), None)
    if drawing is not None:
        raise ModelRefused(f"{path.name} draws random numbers in {drawing.op_type}, so no two results agree; export it for inference")
    try:
        onnx.checker.check_model(bare)
    except Exception as error:
        raise ModelRefused(f"ONNX's checker refuses {path.name}: {_line(error)}") from error
    return bare


def _line(error: Exception) -> str:
    """The first line of a message, or the name of the exception if it has none."""
    return next((line[:300] for line in str(error).splitlines() if line.strip()), type(error).__name__)


def _is_defined(node: Any, versions: Mapping[str, int]) -> bool:
    domain = "" if node.domain == "ai.onnx" else node.domain
    return bool(onnx.defs.has(node.op_type, max_inclusive_version=versions.get(domain, versions.get("ai.onnx", 1)), domain=domain))


def _draws(node: Any, versions: Mapping[str, int]) -> bool:
    """Whether a node draws numbers; a Dropout does so only while it trains."""
    schema = recorder.schema_of(node, dict(versions))
    if schema is None or "seed" not in schema.attributes:
        return False
    return node.op_type != "Dropout" or (len(node.input) > 2 and bool(node.input[2]))


def _inlined(model: Any) -> Any:
    """*model* without functions of its own."""
    return importlib.import_module("onnx.inliner").inline_local_functions(model) if model.functions else model


def _arrays(path: Path) -> dict[str, Any]:
    """The arrays of an `.npz` file by name; none of them is unpickled."""
    try:
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except (OSError, ValueError) as error:
        raise ModelRefused(f"{path.name} is no .npz file of arrays: {error}") from error


def _feeds(model: Any, given: Mapping[str, Any], sizes: Mapping[str, int], random: np.random.Generator) -> dict[str, Any]:
    """A value for each input: one that is *given*, or one that is drawn.

    Raises:
        ModelRefused: a value does not fit, or a size is not known.
    """
    weights = {each.name for each in model.graph.initializer}
    entries = {each.name: each for each in model.graph.input if each.name not in weights}
    if unknown := sorted(given.keys() - entries.keys()):
        raise ModelRefused(f"the model has no input {unknown[0]!r}; its inputs are {', '.join(entries)}")
    missing = dict.fromkeys(
        dimension.dim_param or "?" for name, entry in entries.items() if name not in given
        for dimension in entry.type.tensor_type.shape.dim if not dimension.HasField("dim_value") and dimension.dim_param not in sizes
    )  # fmt: skip
    if missing:
        named = [name for name in missing if name != "?"]
        raise ModelRefused(
            f"the model leaves sizes open: {', '.join(named or ['without a name'])}; give "
            + (f"{' '.join(f'--size {name}=N' for name in named)}, or " if named and len(named) == len(missing) else "")
            + "the inputs in an .npz file with --inputs"
        )
    return {name: given[name] if name in given else _drawn(entry, sizes, random) for name, entry in entries.items()}


def _drawn(entry: Any, sizes: Mapping[str, int], random: np.random.Generator) -> Any:
    """Normal numbers; integers of 0 and 1, which are indices and tokens nearly everywhere."""
    declared = entry.type.tensor_type
    if not declared.elem_type:
        raise ModelRefused(f"the input {entry.name!r} is no tensor; give its value in an .npz file with --inputs")
    shape = [each.dim_value if each.HasField("dim_value") else sizes[each.dim_param] for each in declared.shape.dim]
    dtype = np.dtype(onnx.helper.tensor_dtype_to_np_dtype(declared.elem_type))
    if dtype.kind == "O":
        raise ModelRefused(f"the input {entry.name!r} holds texts; give its value in an .npz file with --inputs")
    drawn = random.integers(0, 2, shape) if dtype.kind in "iub" else random.standard_normal(shape)
    return np.asarray(drawn).astype(dtype)


def _values(model: Any, feeds: Mapping[str, Any]) -> dict[str, Any]:
    """The values of all nodes' outputs: as ONNX Runtime computes them without optimisation, else as ONNX's evaluator does.

    Raises:
        ModelRefused: neither runs the model.
    """
    names = [name for node in model.graph.node for name in node.output if name]
    try:
        runtime: Any = importlib.import_module("onnxruntime")
    except ImportError:
        runtime = None
    try:
        if runtime is not None:
            return _from_runtime(runtime, model, feeds, names)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            reference: Any = importlib.import_module("onnx.reference")
            return dict(reference.ReferenceEvaluator(model).run(None, dict(feeds), intermediate=True))
    except ModelRefused:
        raise
    except Exception as error:
        raise ModelRefused(f"the model does not run on these inputs: {_line(error)}") from error


def _from_runtime(runtime: Any, model: Any, feeds: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    options = runtime.SessionOptions()
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    found: dict[str, Any] = {}
    for group in _groups(model, names):
        copy = onnx.ModelProto()
        copy.CopyFrom(model)
        del copy.graph.output[:]
        copy.graph.output.extend(onnx.ValueInfoProto(name=name) for name in group)
        session = runtime.InferenceSession(copy.SerializeToString(), options, providers=["CPUExecutionProvider"])
        found.update(zip(group, session.run(list(group), dict(feeds)), strict=True))
    return found


def _nudged(value: Any, amount: float) -> Any:
    """*value* with every second floating number larger by a share of *amount*, and the others smaller."""
    array = as_array(value)
    if array.dtype.kind != "f":
        return value
    signs = np.where(np.arange(array.size) % 2, 1.0, -1.0).reshape(array.shape)
    return (array * (1 + amount * signs)).astype(array.dtype)


def _groups(model: Any, names: Sequence[str]) -> Iterator[list[str]]:
    """The names in groups whose values fit `_GROUP`, as far as shapes can be inferred."""
    inferred = onnx.shape_inference.infer_shapes(model).graph
    sizes = {each.name: 8 * math.prod(max(one.dim_value, 1) for one in each.type.tensor_type.shape.dim) for each in inferred.value_info}
    group, total = list[str](), 0
    for name in names:
        size = sizes.get(name, 8)
        if group and total + size > _GROUP:
            yield group
            group, total = [], 0
        group.append(name)
        total += size
    yield group


def _independent(nodes: Sequence[Any], fed: set[str]) -> set[str]:
    """The values that do not depend on the values of the model's inputs *fed*, only on their shapes."""
    dependent = set(fed)
    fixed: set[str] = set()
    for node in nodes:
        read = {*node.input, *_read_inside(node)}
        names = {name for name in node.output if name}
        if node.op_type not in _OF_SHAPES and read & dependent:
            dependent |= names
        else:
            fixed |= names
    return fixed


def _read_inside(node: Any) -> set[str]:
    """The values that graphs inside of a node read, at any depth; also those that they make themselves."""
    bodies = [body for each in node.attribute for body in (each.g, *each.graphs)]
    names = {name for body in bodies for inner in body.node for name in (*inner.input, *_read_inside(inner))}
    return names | {each.name for body in bodies for each in body.output}


def _info(name: str, value: Any) -> Any:
    array = as_array(value)
    return onnx.helper.make_tensor_value_info(name, int(onnx.helper.np_dtype_to_tensor_dtype(array.dtype)), array.shape)
