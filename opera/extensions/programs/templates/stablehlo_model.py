"""Programs of many operators as StableHLO modules."""

from __future__ import annotations

from opera.extensions.programs.languages import Unwritable
from opera.extensions.programs.templates.model import ProgramModel
from opera.extensions.programs.templates.stablehlo_text import module_text
from opera.extensions.stablehlo.templates.model import KIND, interpreted, program_source
from opera.extensions.stablehlo.templates.module import Rejected, ir, new_context, parse
from opera.instance import Instance
from opera.models.template import Artefact, Invalid, PythonSource, Reference
from opera.oracles.compare import Policy, compare


class StableHloProgramModel(ProgramModel):
    """A program as a module that the verifiers of StableHLO accept; NumPy and the readable interpreter say what it computes."""

    def __init__(self, instance: Instance, key: str, seed: int) -> None:
        super().__init__(instance, key, seed)
        if self.ill_typed:
            raise Invalid("not-in-the-language")
        try:
            text = module_text(self.program)
        except Unwritable as error:
            raise Invalid("not-in-the-language") from error
        try:
            with new_context(), ir.Location.unknown():
                self._text = str(parse(text).operation.get_asm(large_elements_limit=None))
        except (Rejected, ir.MLIRError) as error:
            raise Invalid("checker") from error

    def reference(self) -> Reference:
        """The results by numpy, if the readable interpreter agrees.

        An operator may be several operations, whose intermediate values overflow where that of NumPy does not: then nobody is at fault.

        Raises:
            Invalid: they differ.
        """
        found = super().reference()
        text = interpreted(self._text, [value for _, value in self.inputs], {})
        if text is not None and compare(found.outputs, found.precise, text, Policy({})) is not None:
            raise Invalid("operations-differ-from-operator")
        return found

    def printed(self, kind: str) -> Artefact:
        if kind != KIND:
            raise ValueError(f"StableHLO programs have no artefact of kind {kind!r}")
        return Artefact(self._text.encode())

    def source(self, form: str) -> PythonSource:
        return program_source(self._text, [value for _, value in self.inputs], self.reference().outputs)
