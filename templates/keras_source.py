"""A Keras or TensorFlow instance as the source that a person would write."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from opera.instance import Argument, Call, DType, Enum, Instance, Kind, Named, Tensor
from opera.models.arrays import Array, dtype_name
from opera.templates.python_text import array_text, number_text


def functional_source(instance: Instance, arrays: Sequence[Array], seed: int) -> tuple[str, str]:
    """Source that defines `model` (a `keras.Model`) and `inputs` (a list of arrays), and source that defines `expected`."""
    writer = CallText(dtype="'{}'".format)
    lines = [f"keras.utils.set_random_seed({seed})"]
    for name, value in instance.context:
        if name in ("image_data_format", "floatx", "dtype_policy"):
            lines.append(f"keras.config.set_{name}({value!r})")
    init = ", ".join(writer.argument(argument, inputs=False) for argument in instance.init)
    call = [writer.argument(argument, inputs=True) for argument in instance.call]
    if instance.context_value("training") is not None:
        call.append(f"training={instance.context_value('training')}")
    names = [f"x{place}" for place in range(len(arrays))]
    for name, array in zip(names, arrays, strict=True):
        lines.append(f'{name} = keras.Input(batch_shape={array.shape}, dtype="{dtype_name(array.dtype)}", name="{name}")')
    target = f"{instance.api}({init})" if instance.kind is Kind.MODULE else instance.api
    lines += [f"model = keras.Model([{', '.join(names)}], {target}({', '.join(call)}))", "inputs = ["]
    lines += [f"    {array_text(array)}," for array in arrays]
    lines.append("]")
    return "\n".join(lines), "expected = [keras.ops.convert_to_numpy(leaf) for leaf in keras.tree.flatten(model(inputs))]"


class CallText:
    """Writes arguments; tensors of the call become x0, x1, ... in the order in which the model takes them."""

    def __init__(self, dtype: Any) -> None:
        """*dtype* gives the text of a data type by its name."""
        self._dtype = dtype
        self._count = 0

    def argument(self, argument: Argument, *, inputs: bool) -> str:
        """One argument, with its name where it is passed by keyword."""
        text = self._value(argument.value, inputs)
        return f"{argument.name}={text}" if argument.keyword else text

    def _value(self, value: Any, inputs: bool) -> str:
        if isinstance(value, Tensor):
            return self._tensor(value, inputs)
        if isinstance(value, (list, tuple)):
            items = [self._value(item, inputs) for item in cast("list[Any]", value)]
            if isinstance(value, list):
                return f"[{', '.join(items)}]"
            return f"({', '.join(items)}{',' if len(items) == 1 else ''})"
        if isinstance(value, dict):
            return "{" + ", ".join(f"{key!r}: {self._value(item, inputs)}" for key, item in cast("dict[Any, Any]", value).items()) + "}"
        if isinstance(value, slice):
            ends = cast("tuple[Any, ...]", (value.start, value.stop, value.step))
            return f"slice({', '.join(self._value(end, inputs) for end in ends)})"
        if isinstance(value, Call):
            parts = [text if name is None else f"{name}={text}" for name, text in ((n, self._value(v, False)) for n, v in value.arguments)]
            return f"{value.api}({', '.join(parts)})"
        return self._scalar(value)

    def _tensor(self, tensor: Tensor, inputs: bool) -> str:
        if not inputs:
            from opera.models.sampling import sample

            return array_text(sample(tensor, "source", 0))
        self._count += 1
        return f"x{self._count - 1}"

    def _scalar(self, value: Any) -> str:
        if isinstance(value, DType):
            return str(self._dtype(value.name))
        if isinstance(value, Enum):
            return f"{value.path}.{value.member}"
        if isinstance(value, Named):
            return value.path.removeprefix("builtins.")
        if isinstance(value, (int, float, complex)):
            return number_text(value)
        return repr(value)
