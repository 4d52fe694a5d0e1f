"""Programs of many operators as modules of PyTorch."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from opera.arrays import Array, as_array, dtype_name
from opera.extensions.programs.check import check
from opera.extensions.programs.document import BadProgram
from opera.extensions.programs.instances import program_of
from opera.extensions.programs.languages import Unwritable, registry
from opera.extensions.programs.program import Program, canonical
from opera.extensions.programs.templates.meaning import ORDER_OF_NAN, Meaning
from opera.extensions.programs.templates.model import ILL_TYPED
from opera.extensions.programs.templates.torch_source import constants_of, module_lines, python_source
from opera.extensions.programs.types import IllTyped
from opera.instance import Instance, Tensor
from opera.models.sampling import sample
from opera.models.template import Invalid, PythonSource, Reference
from opera.templates.call_arguments import Slot
from opera.templates.pytorch.model import PyTorchModel, from_numpy, wrap

OTHER_INTEGERS = "numpy-disagrees"
"""Why a program has no reference whose integers are not the same in PyTorch and in numpy."""
torch: Any = importlib.import_module("torch")


class TorchProgramModel(PyTorchModel):
    """A program as a module whose source is plain calls of `torch`; PyTorch itself says what it computes."""

    def __init__(self, instance: Instance, key: str, seed: int) -> None:
        self.instance, self._key, self._seed = instance, key, seed
        self._constants, self._beside, self.paired = [], None, False
        try:
            self._program = _checked(instance)
            lines = module_lines(self._program)
        except (BadProgram, IllTyped) as error:
            raise Invalid(ILL_TYPED) from error
        except Unwritable as error:
            raise Invalid("not-in-the-language") from error
        values = [sample(each.value, f"{key}:{index}", seed) for index, each in enumerate(instance.call) if isinstance(each.value, Tensor)]
        self._meaning = Meaning(self._program, [as_array(each) for each in values], instance.library)
        self._tensors = [from_numpy(value, dtype_name(as_array(value).dtype)) for value in values]
        space: dict[str, Any] = {"torch": torch}
        exec("\n".join(lines), space)  # names by place, numbers, and operators of the registry
        constants = [torch.from_numpy(each.copy()) for each in constants_of(self._program)]
        made = space["Model"](constants) if constants else space["Model"]()
        self.part = self.module = wrap(made.eval(), [Slot(index) for index in range(len(self._tensors))], {}, "program")

    def reference(self) -> Reference:
        """PyTorch's results; no reference where numpy has other integers or truth values, such as the places of equal elements."""
        found = super().reference()
        try:
            meant = self._meaning.results()
        except Invalid:
            return found
        pairs = zip(meant, map(as_array, found.outputs), strict=True)
        other = any(one.dtype.kind in "iub" and not np.array_equal(one, torchs) for one, torchs in pairs)
        undefined = found.undefined or (ORDER_OF_NAN if self._meaning.compares_nan else OTHER_INTEGERS if other else None)
        return replace(found, precise=self._meaning.precise(), undefined=undefined)

    def nearby(self, scale: float, draw: int, computes_as: Mapping[str, str] | None = None) -> list[Array] | None:
        return self._meaning.nearby(scale, draw, computes_as)

    def exact(self, dtype: str) -> list[Array] | None:
        return self._meaning.exact(dtype)

    def source(self, form: str) -> PythonSource:
        return python_source(self._program, dict(self.inputs), self.reference().outputs)


def _checked(instance: Instance) -> Program:
    program = canonical(program_of(instance))
    check(program, registry())
    return program
