"""A TensorFlow instance as the source of a module that a person would write."""

from __future__ import annotations

from collections.abc import Sequence

from opera.arrays import Array
from opera.instance import Instance
from opera.templates.keras.source import KerasCallText
from opera.templates.python_text import array_text, dotted


def module_source(
    instance: Instance,
    arrays: Sequence[Array],
    constants: Sequence[Array],
    *,
    texts: bool,
    free: int,
    shapes: Sequence[Sequence[int | None]],
) -> tuple[str, str]:
    """Source that defines `model` (a `tf.Module`) and `inputs` (a list of tensors), and source that defines `expected`.

    The first *free* of *arrays* are inputs, the others stand in the module. Tensors of no call are *constants*. With *texts*,
    an output holds strings, which TensorFlow gives without an array if it is one string. Sizes that are None in *shapes* are left open.
    """
    writer = KerasCallText(lambda name: f"tf.{dotted(name)}", constants)
    call = ", ".join(writer.argument(argument, inputs=True) for argument in instance.call)
    names = "".join(f", x{index}" for index in range(free))
    lines = [
        "class Model(tf.Module):",
        f"    def __call__(self{names}):",
        *(f"        x{index} = tf.constant({array_text(array)})" for index, array in enumerate(arrays) if index >= free),
        f"        return {dotted(instance.api)}({call})",
        "",
        "",
        "model = Model()",
        "inputs = [",
        *(f"    tf.constant({array_text(array)})," for array in arrays[:free]),
        "]",
        *([f"shapes = {[tuple(shape) for shape in shapes]}"] if shapes else []),
    ]
    array = "np.array(leaf.numpy(), object)" if texts else "leaf.numpy()"
    return "\n".join(lines), f"expected = [{array} for leaf in tf.nest.flatten(model(*inputs))]"
