"""Exports a model of PyTorch or Keras to ONNX, and says what the library computes. Runs in a worker of that library."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np

from opera.arrays import as_array
from opera.extensions.models.templates.opened import ModelRefused, SizesMissing, drawn_feeds, first_line
from opera.extensions.models.templates.program_file import check_program
from opera.workers.protocol import Message


class Exporter:
    """Exports one model.

    Args:
        options: `source`, a `.keras` or a `.pt2` file or `module:function`; `folder` for what is written; `sizes` of symbolic
            dimensions; `seed`.
    """

    spent = False

    def __init__(self, options: Message) -> None:
        folder = Path(options["folder"])
        make = {".keras": _of_keras, ".pt2": _of_program}.get(Path(options["source"]).suffix, _of_function)
        try:
            inputs, outputs, versions = make(str(options["source"]), folder / "model.onnx", options["sizes"], int(options["seed"]))
        except SizesMissing as error:
            raise ModelRefused(
                f"{error.what}; give {error.options}" if error.complete else f"{error.what}; export it with sizes"
            ) from error
        np.savez(folder / "inputs.npz", **inputs)
        np.savez(folder / "outputs.npz", *outputs)
        self._versions = versions

    def ready(self) -> Message:
        """Tells the versions of what exported the model."""
        return {"versions": self._versions}


Made = tuple[Mapping[str, Any], Sequence[Any], dict[str, str]]
"""Inputs by name, outputs and versions."""


def _of_function(source: str, path: Path, sizes: Mapping[str, int], seed: int) -> Made:
    """Exports what a function gives: a module of PyTorch with its inputs, `(module, args)` or `(module, args, kwargs)`."""
    torch: Any = importlib.import_module("torch")
    torch.manual_seed(seed)
    module, args, kwargs = _parts(source, _called(source), torch)
    module.eval()
    return _of_pytorch(source, module, module, args, kwargs, path)


def _of_program(source: str, path: Path, sizes: Mapping[str, int], seed: int) -> Made:
    """Exports a file of `torch.export.save` that holds nothing but data, on the inputs that it was exported with, else on drawn ones."""
    name = Path(source).name
    check_program(Path(source))
    torch: Any = importlib.import_module("torch")
    try:
        program = torch.export.load(source)
        args, kwargs = program.example_inputs or _drawn(program, sizes, np.random.default_rng(seed), torch)
        module = program.module()
    except ModelRefused:
        raise
    except Exception as error:
        raise ModelRefused(f"PyTorch cannot load {name}: {first_line(error)}; save it again with this version of PyTorch") from error
    return _of_pytorch(name, module, program, args, kwargs, path)


def _drawn(program: Any, sizes: Mapping[str, int], random: np.random.Generator, torch: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Values for the inputs of a program that was saved without any: normal numbers, and integers of 0 and 1."""
    wanted = {each.name: each.meta["val"] for each in program.graph.nodes if each.op == "placeholder"}
    tensors = [wanted[name] for name in program.graph_signature.user_inputs]
    if not all(isinstance(each, torch.Tensor) for each in tensors):
        raise ModelRefused("an input of the program is no tensor; export it with tensors only")
    open_sizes = dict.fromkeys(str(size) for each in tensors for size in each.shape if not isinstance(size, int))
    if missing := [name for name in open_sizes if name not in sizes]:
        raise SizesMissing(missing)
    values: list[Any] = []
    for each in tensors:
        shape = [size if isinstance(size, int) else sizes[str(size)] for size in each.shape]
        wide = each.dtype.is_floating_point or each.dtype.is_complex
        drawn = random.standard_normal(shape) if wide else random.integers(0, 2, shape)
        values.append(torch.from_numpy(np.asarray(drawn)).to(each.dtype))
    tree: Any = importlib.import_module("torch.utils._pytree")
    return tree.tree_unflatten(values, program.call_spec.in_spec)


def _of_pytorch(source: str, module: Any, exported: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], path: Path) -> Made:
    """Runs *module*, and exports it, or the program *exported* that it comes from."""
    torch: Any = importlib.import_module("torch")
    tree: Any = importlib.import_module("torch.utils._pytree")
    with torch.no_grad():
        computed, again = (
            _arrays(source, "outputs", torch, tree.tree_leaves(module(*tree.tree_map(_copied, args), **tree.tree_map(_copied, kwargs))))
            for _ in range(2)
        )
        if not all(map(_equal, computed, again)):
            raise ModelRefused(f"{source} computes other results each time, so no result is right; seed or remove what is random")
        try:
            given = {"args": args, "kwargs": kwargs} if exported is module else {}
            program = torch.onnx.export(exported, **given, dynamo=True, verbose=False)
        except Exception as error:
            raise ModelRefused(f"torch.onnx cannot export {source}: {first_line(error)}") from error
    program.save(str(path))
    names = [str(each.name) for each in program.model.graph.inputs]
    arrays = _arrays(source, "inputs", torch, tree.tree_leaves((args, kwargs)))
    if len(names) != len(arrays):
        raise ModelRefused(f"torch.onnx gives the model of {source} {len(names)} inputs for {len(arrays)} tensors; pass each tensor once")
    versions = {name: str(importlib.import_module(name).__version__) for name in ("torch", "onnxscript")}
    return dict(zip(names, arrays, strict=True)), computed, versions


def _parts(source: str, given: Any, torch: Any) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """Module, positional and named inputs of what a function has *given*."""
    several: list[Any] = list(cast("tuple[Any, ...]", given)) if isinstance(given, tuple) else []
    if len(several) not in (2, 3) or not isinstance(several[0], torch.nn.Module):
        raise ModelRefused(f"{source} gives no module with its inputs; return (module, args) or (module, args, kwargs)")
    args = cast("tuple[Any, ...]", several[1]) if isinstance(several[1], tuple) else (several[1],)
    return several[0], args, several[2] if len(several) == 3 else {}


def _of_keras(source: str, path: Path, sizes: Mapping[str, int], seed: int) -> Made:
    """Exports a file of Keras; code in it is refused by Keras' safe mode."""
    keras: Any = importlib.import_module("keras")
    try:
        model = keras.saving.load_model(source, compile=False, safe_mode=True)
    except Exception as error:
        raise ModelRefused(f"Keras cannot load {Path(source).name}: {first_line(error)}") from error
    try:
        zeros = [keras.ops.zeros([size or 1 for size in each.shape], each.dtype) for each in model.inputs]
        model(zeros[0] if len(zeros) == 1 else zeros)  # a Sequential model is exported after a call only
        model.export(str(path), format="onnx", verbose=False)
    except Exception as error:
        raise ModelRefused(f"Keras cannot export {Path(source).name}: {first_line(error)}") from error
    onnx: Any = importlib.import_module("onnx")
    feeds = drawn_feeds(onnx.load(str(path)), (), {}, sizes, np.random.default_rng(seed))
    values = [keras.ops.convert_to_tensor(each) for each in feeds.values()]
    computed = model(values[0] if len(values) == 1 else values, training=False)
    outputs = [np.asarray(keras.ops.convert_to_numpy(each)) for each in keras.tree.flatten(computed)]
    return feeds, outputs, {"keras": str(keras.__version__)}


def _called(source: str) -> Any:
    name, _, function = source.partition(":")
    try:
        found: Callable[[], Any] = getattr(importlib.import_module(name), function)
    except ImportError as error:
        raise ModelRefused(f"{name} cannot be imported from {sys.path[0]}: {first_line(error)}") from error
    except AttributeError as error:
        raise ModelRefused(f"{name} has no function {function!r}") from error
    try:
        return found()
    except Exception as error:
        raise ModelRefused(f"{source} raises {type(error).__name__}: {first_line(error)}") from error


def _copied(value: Any) -> Any:
    return value.clone() if hasattr(value, "clone") else value


def _arrays(source: str, what: str, torch: Any, leaves: Sequence[Any]) -> list[Any]:
    """The tensors among *leaves* as arrays that a file of numpy holds; bfloat16 as float32, which has all its values, if it is no input."""
    found: list[Any] = []
    for each in leaves:
        if not isinstance(each, torch.Tensor):
            continue
        if each.dtype is torch.bfloat16 and what == "outputs":
            each = each.float()
        try:
            found.append(each.detach().cpu().numpy())
        except Exception as error:
            raise ModelRefused(f"{what} of {source} have the dtype {each.dtype}, which numpy does not hold; use others") from error
    return found


def _equal(one: Any, other: Any) -> bool:
    return bool(np.array_equal(as_array(one), as_array(other), equal_nan=as_array(one).dtype.kind in "fc"))
