"""A Keras or TensorFlow instance as the source that a person would write."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from opera.arrays import Array, dtype_name
from opera.instance import Instance, Kind, Named, Tensor
from opera.models.sampling import sample
from opera.templates.argument_text import ArgumentText
from opera.templates.python_text import array_text, dotted


def model_source(instance: Instance, arrays: Sequence[Array], seed: int, *, functional: bool = True) -> tuple[str, str]:
    """Source that defines `model` (a `keras.Model`) and `inputs` (a list of arrays), and source that defines `expected`.

    Without *functional*, the model is a subclass: Keras cannot call the operator on symbolic inputs.
    """
    writer = KerasCallText(dtype=repr)
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
    names = [f"x{place}" for place in range(len(arrays))]
    operator = f"{api}({init})" if instance.kind is Kind.MODULE else api
    if functional:
        for name, array in zip(names, arrays, strict=True):
            lines.append(f'{name} = keras.Input(batch_shape={array.shape}, dtype="{dtype_name(array.dtype)}", name="{name}")')
        lines.append(f"model = keras.Model([{', '.join(names)}], {operator}({', '.join(call)}))")
    else:
        lines += ["", "", "class Model(keras.Model):"]
        if instance.kind is Kind.MODULE:
            lines += ["    def __init__(self):", "        super().__init__()", f"        self.operator = {operator}", ""]
            operator = "self.operator"
        lines += ["    def call(self, inputs):", f"        [{', '.join(names)}] = inputs", f"        return {operator}({', '.join(call)})"]
        lines += ["", "", "model = Model()"]
    lines.append("inputs = [")
    lines += [f"    {array_text(array)}," for array in arrays]
    lines.append("]")
    return "\n".join(lines), "expected = [keras.ops.convert_to_numpy(leaf) for leaf in keras.tree.flatten(model(inputs))]"


class KerasCallText(ArgumentText):
    """Arguments of Keras' and TensorFlow's calls."""

    def __init__(self, dtype: Callable[[str], Any]) -> None:
        """*dtype* gives the text of a data type by its name."""
        super().__init__()
        self._dtype = dtype

    def constant_tensor(self, tensor: Tensor) -> str:
        return array_text(sample(tensor, "source", 0))

    def dtype(self, name: str) -> str:
        return str(self._dtype(name))

    def scalar(self, value: Any) -> str:
        return super().scalar(value).removeprefix("builtins.") if isinstance(value, Named) else super().scalar(value)
