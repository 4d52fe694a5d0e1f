"""A Keras or TensorFlow instance as the source that a person would write."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from opera.arrays import Array, dtype_name
from opera.instance import Instance, Kind, Named
from opera.templates.argument_text import ArgumentText
from opera.templates.python_text import array_text, dotted


def model_source(instance: Instance, arrays: Sequence[Array], constants: Sequence[Array], seed: int, *, functional: bool = True) -> str:
    """Source that defines `model` (a `keras.Model`) and `inputs` (a list of arrays).

    The tensors that are no inputs are *constants*. Without *functional*, the model is a subclass: a functional model would call the
    operator otherwise, or cast its inputs.
    """
    writer = KerasCallText(repr, constants)
    api = dotted(instance.api)
    lines = [f"keras.utils.set_random_seed({seed})"]
    for name, value in instance.context:
        if name in ("image_data_format", "floatx", "dtype_policy"):
            lines.append(f"keras.config.set_{name}({writer.scalar(value)})")
    init = ", ".join(writer.argument(argument, inputs=False) for argument in instance.init)
    call = [writer.argument(argument, inputs=True) for argument in instance.call]
    training = instance.context_value("training")
    if training is not None:
        call.append(f"training={bool(training)}")
    names = [f"x{index}" for index in range(len(arrays))]
    operator = f"{api}({init})" if instance.kind is Kind.MODULE else api
    if functional and instance.kind is Kind.MODULE:
        lines += [f"operator = {operator}", f"keras.utils.set_random_seed({seed})  # once more, before the layer gets its weights"]
        operator = "operator"
    if functional:
        for name, array in zip(names, arrays, strict=True):
            lines.append(f'{name} = keras.Input(batch_shape={array.shape}, dtype="{dtype_name(array.dtype)}", name="{name}")')
        lines.append(f"model = keras.Model([{', '.join(names)}], {operator}({', '.join(call)}))")
    else:
        made: list[str] = []
        if instance.kind is Kind.MODULE:
            made = [f"        self.operator = {operator}"]
            operator = "self.operator"
        lines += ["", "", "class Model(keras.Model):", "    def __init__(self):"]
        lines += ['        super().__init__(dtype="float32", autocast=False)', *made, ""]
        lines += ["    def call(self, inputs):", f"        [{', '.join(names)}] = inputs", f"        return {operator}({', '.join(call)})"]
        lines += ["", "", "model = Model()"]
        if instance.kind is Kind.MODULE:
            lines.append(f"keras.utils.set_random_seed({seed})  # once more, before the layer gets its weights")
    lines += ["inputs = [", *(f"    {array_text(array)}," for array in arrays), "]"]
    return "\n".join(lines)


def expected_source(arrays: Sequence[Array], outputs: Sequence[Array]) -> str:
    """Source that defines `expected` by running `model`; float8 passes as float32, as PyTorch takes and gives no arrays of it."""
    if not any(dtype_name(each.dtype).startswith("float8") for each in (*arrays, *outputs)):
        return "expected = [keras.ops.convert_to_numpy(leaf) for leaf in keras.tree.flatten(model(inputs))]"
    given = _listed(arrays, "inputs[{}]", 'keras.ops.cast(inputs[{}].astype("float32"), "{}")')
    leaf = "keras.ops.convert_to_numpy({})"
    found = _listed(outputs, leaf.format("leaves[{}]"), leaf.format('keras.ops.cast(leaves[{}], "float32")') + ".astype(ml_dtypes.{})")
    return f"leaves = keras.tree.flatten(model({given}))\nexpected = {found}"


def _listed(arrays: Sequence[Array], usual: str, narrow: str) -> str:
    """A list with an expression for each array: *narrow* for one of float8."""
    names = [dtype_name(each.dtype) for each in arrays]
    return f"[{', '.join((narrow if name.startswith('float8') else usual).format(index, name) for index, name in enumerate(names))}]"


class KerasCallText(ArgumentText):
    """Arguments of Keras' and TensorFlow's calls."""

    def __init__(self, dtype: Callable[[str], Any], constants: Iterable[Array]) -> None:
        """*dtype* gives the text of a data type by its name; *constants* are the tensors that are no inputs."""
        super().__init__(map(array_text, constants))
        self._dtype = dtype

    def dtype(self, name: str) -> str:
        return str(self._dtype(name))

    def scalar(self, value: Any) -> str:
        return super().scalar(value).removeprefix("builtins.") if isinstance(value, Named) else super().scalar(value)
