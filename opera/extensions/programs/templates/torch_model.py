"""Programs of many operators as modules of PyTorch."""

from __future__ import annotations

import importlib
from dataclasses import replace
from typing import Any

import numpy as np

from opera.arrays import as_array
from opera.extensions.programs.check import check, evaluate
from opera.extensions.programs.document import BadProgram
from opera.extensions.programs.instances import program_of
from opera.extensions.programs.languages import Unwritable, registry
from opera.extensions.programs.program import Program, canonical
from opera.extensions.programs.templates.model import ILL_TYPED, tensors_of
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
        self._tensors = [
            from_numpy(sample(each.value, f"{key}:{index}", seed), each.value.dtype)
            for index, each in enumerate(instance.call)
            if isinstance(each.value, Tensor)
        ]
        space: dict[str, Any] = {"torch": torch}
        exec("\n".join(lines), space)  # names by place, numbers, and operators of the registry
        constants = [torch.from_numpy(each.copy()) for each in constants_of(self._program)]
        made = space["Model"](constants) if constants else space["Model"]()
        self.module = wrap(made.eval(), [Slot(index) for index in range(len(self._tensors))], {}, "program")

    def reference(self) -> Reference:
        """PyTorch's results; no reference where numpy has other integers or truth values, such as the places of equal elements."""
        found = super().reference()
        try:
            meant = list(tensors_of(evaluate(self._program, [value for _, value in self.inputs], registry())))
        except ValueError:
            return found
        pairs = zip(meant, map(as_array, found.outputs), strict=True)
        other = any(one.dtype.kind in "iub" and not np.array_equal(one, torchs) for one, torchs in pairs)
        return replace(found, undefined=found.undefined or OTHER_INTEGERS) if other else found

    def source(self, form: str) -> PythonSource:
        return python_source(self._program, dict(self.inputs), self.reference().outputs)


def _checked(instance: Instance) -> Program:
    program = canonical(program_of(instance))
    check(program, registry())
    return program
