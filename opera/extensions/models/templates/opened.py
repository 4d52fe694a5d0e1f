"""Opens an ONNX model: reads and checks the file, chooses inputs, and computes all values. Runs in a worker of the library onnx."""

from __future__ import annotations

import importlib
import math
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from opera.instrumentation import onnx as recorder

onnx: Any = importlib.import_module("onnx")

MOST_BYTES = 2**30
"""Largest model with its weights: ONNX's own format ends at 2 GiB, and a piece holds weights and values."""
_GROUP = 256 * 2**20
"""Bytes of intermediate values that one run of the model hands out."""
_LARGE = 2**14
"""Bytes of a weight from which on it is held once, as an array, and fed to the model."""


class ModelRefused(Exception):
    """The model cannot be checked; the message says what helps."""


class SizesMissing(ModelRefused):
    """Sizes of inputs are open; *names* are those of the symbolic dimensions, `?` for one without a name."""

    def __init__(self, names: Sequence[str]) -> None:
        self.named = [name for name in names if name != "?"]
        self.complete = len(self.named) == len(names)
        self.options = " ".join(f"--size {name}=N" for name in self.named)
        by_name = f"{self.options}, or " if self.complete else ""
        super().__init__(f"{self.what}; give {by_name}the inputs in an .npz file with --inputs")

    @property
    def what(self) -> str:
        """The open sizes in words, by name as far as they have one."""
        return f"the model leaves sizes open: {', '.join(self.named or ['without a name'])}"


@dataclass(frozen=True)
class OpenedModel:
    """A model that runs.

    Attributes:
        model: The model, without functions of its own. Its large weights are inputs.
        large: These weights by name.
        feeds: The values of its other inputs by name.
        known: All its values by name: inputs, weights, and the outputs of each node.
    """

    model: Any
    large: Mapping[str, Any]
    feeds: Mapping[str, Any]
    known: Mapping[str, Any]


def opened(path: Path, inputs: Path | None, sizes: Mapping[str, int], seed: int, *, fast: bool = True) -> OpenedModel:
    """Opens the model at *path* and runs it once; values of inputs that the file *inputs* lacks are drawn; *fast* as for `values`.

    Raises:
        ModelRefused: it cannot be read, lacks a size, or does not run.
    """
    model, large = _read(path)
    feeds = drawn_feeds(model, large, {} if inputs is None else arrays_in(inputs), sizes, np.random.default_rng(seed))
    weights = {each.name: onnx.numpy_helper.to_array(each) for each in model.graph.initializer}
    return OpenedModel(model, large, feeds, {**feeds, **large, **weights, **values(model, {**large, **feeds}, fast=fast)})


def _read(path: Path) -> tuple[Any, dict[str, Any]]:
    """The model without functions of its own, checked, and its large weights, which are inputs of it.

    Raises:
        ModelRefused: the file is no model of ONNX, or lacks its weights, or is too large, or has operators that ONNX does not define.
    """
    if path.stat().st_size > MOST_BYTES:
        raise ModelRefused(f"{path.name} has {path.stat().st_size:,} bytes; OPERA checks models up to {MOST_BYTES:,}: check a part of it")
    try:
        bare = onnx.load(str(path), load_external_data=False)
    except Exception as error:
        raise ModelRefused(f"{path.name} is no model of ONNX, or is cut off: {first_line(error)}") from error
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
        raise ModelRefused(f"{path.name} lacks weights: {first_line(error)}; put the file of the weights into its folder") from error
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
        light, large = _without_large(bare)
        onnx.checker.check_model(light)
    except Exception as error:
        raise ModelRefused(f"ONNX's checker refuses {path.name}: {first_line(error)}") from error
    return _inlined(light), large


def _without_large(model: Any) -> tuple[Any, dict[str, Any]]:
    """A copy of *model*, whose large weights are inputs, and their values; *model* loses them."""
    held, given = list(model.graph.initializer), {each.name for each in model.graph.input}
    large: dict[str, Any] = {}
    for each in held:
        if len(each.raw_data) >= _LARGE and np.dtype(onnx.helper.tensor_dtype_to_np_dtype(each.data_type)).isbuiltin == 1:
            array = onnx.numpy_helper.to_array(each)
            large[each.name] = array.copy()
            each.ClearField("raw_data")
            if each.name not in given:
                model.graph.input.append(onnx.helper.make_tensor_value_info(each.name, each.data_type, array.shape))
    small = [each for each in held if each.name not in large]
    del model.graph.initializer[:]
    model.graph.initializer.extend(small)
    light = onnx.ModelProto()  # a message keeps the memory of what it has lost
    light.CopyFrom(model)
    return light, large


def first_line(error: Exception) -> str:
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


def arrays_in(path: Path) -> dict[str, Any]:
    """The arrays of an `.npz` file by name; none of them is unpickled."""
    try:
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except (OSError, ValueError) as error:
        raise ModelRefused(f"{path.name} is no .npz file of arrays: {error}") from error


def drawn_feeds(
    model: Any, large: Collection[str], given: Mapping[str, Any], sizes: Mapping[str, int], random: np.random.Generator
) -> dict[str, Any]:
    """A value for each input that is no weight, and none of the *large* ones: one that is *given*, or one that is drawn.

    Raises:
        ModelRefused: a value does not fit, or a size is not known.
    """
    weights = {each.name for each in model.graph.initializer} | set(large)
    entries = {each.name: each for each in model.graph.input if each.name not in weights}
    if unknown := sorted(given.keys() - entries.keys()):
        raise ModelRefused(f"the model has no input {unknown[0]!r}; its inputs are {', '.join(entries)}")
    missing = dict.fromkeys(
        dimension.dim_param or "?" for name, entry in entries.items() if name not in given
        for dimension in entry.type.tensor_type.shape.dim if not dimension.HasField("dim_value") and dimension.dim_param not in sizes
    )  # fmt: skip
    if missing:
        raise SizesMissing([*missing])
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


def values(model: Any, feeds: Mapping[str, Any], *, fast: bool = True) -> dict[str, Any]:
    """The values of all nodes' outputs: as ONNX Runtime computes them without optimisation, else as ONNX's evaluator does.

    Args:
        model: The model.
        feeds: Values of its inputs by name.
        fast: Whether to try ONNX Runtime.

    Raises:
        ModelRefused: neither runs the model.
    """
    names = [name for node in model.graph.node for name in node.output if name]
    refused = ""
    if fast:
        try:
            return _from_runtime(importlib.import_module("onnxruntime"), model, feeds, names)
        except ImportError:
            pass
        except Exception as error:
            refused = f"{first_line(error)}; and in ONNX's evaluator: "
    try:
        return evaluated(model, feeds)
    except Exception as error:
        raise ModelRefused(f"the model does not run on these inputs: {refused}{first_line(error)}") from error


def evaluated(model: Any, feeds: Mapping[str, Any]) -> dict[str, Any]:
    """The values of all nodes' outputs as ONNX's evaluator computes them."""
    reference: Any = importlib.import_module("onnx.reference")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return dict(reference.ReferenceEvaluator(model).run(None, dict(feeds), intermediate=True))


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
