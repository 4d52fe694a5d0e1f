"""The forms of a model: which of its inputs are given at run time, and which are constants; and its opset."""

from __future__ import annotations

import enum
import json
import re
from collections.abc import Collection
from dataclasses import dataclass

from opera.instance import Call, Instance, Kind, Tensor
from opera.instance.libraries import facts_of
from opera.instance.values import walk
from opera.models.sampling import is_inexact

INPUTS = "inputs"
"""The context fact of instances that share their inputs: the key from which these are drawn."""
PACKED = "packed"
"""The context fact of an instance whose input 0 is transported as pairs of real and imaginary parts."""
STATE = "state"
"""The context fact of side b of a pair: the call that makes side a, whose parameters and buffers it takes."""
BESIDE = "beside"
"""The context fact of both sides of a pair in one model, side b's with this call, side a's: outputs are those of a, then those of b."""
OUTCOME = "outcome"
"""The context fact of an instance whose live module is called otherwise: the value of `InputForm.SYMBOLIC`, `WRITTEN` or `REFUSED`."""
_SMALL = 8
_WITH_OPSET = re.compile(r"([a-z]+)@([1-9]\d?)", re.ASCII)


class InputForm(enum.Enum):
    """How inputs reach a model."""

    RUNTIME = "runtime"
    BAKED = "baked"
    """Shape-like inputs are constants of the model."""
    CONSTANT = "constant"
    """All tensors but the first input are constants, as weights are."""
    FOLDED = "folded"
    """Baked in, and operations of constants only replaced by what an interpreter gives for them."""
    SYMBOLIC = "symbolic"
    """Baked in, and the sizes of other inputs are left open as far as the library takes other ones."""
    WRITTEN = "written"
    """At run time, and writes to inputs and results follow the call: the library's own result is another one, too."""
    REFUSED = "refused"
    """A call that the library refuses, so that a compiler has to refuse it: the result is whether it does."""

    @property
    def has_outcome(self) -> bool:
        """Whether its tests look at something else than results, for the library as for a compiler."""
        return self in (InputForm.WRITTEN, InputForm.REFUSED)


_OF_LIBRARIES = ("symbolic", "written", "refused")
"""Forms that only some libraries have."""


@dataclass(frozen=True)
class ModelForm:
    """The form of a test's model. Its text, `baked` or `baked@21`, is part of the test's identity, and stands in the store and in messages.

    Attributes:
        inputs: How inputs reach it.
        opset: The opset of ONNX that it declares; None for the lowest at which it is valid and means the same.
    """

    inputs: InputForm
    opset: int | None = None

    @staticmethod
    def parse(text: str) -> ModelForm:
        """Inverse of `str`; raises ValueError for any other text."""
        inputs, opset = form_parts(text)
        return ModelForm(InputForm(inputs), opset)

    def __str__(self) -> str:
        return self.inputs.value if self.opset is None else f"{self.inputs.value}@{self.opset}"


def form_parts(text: str) -> tuple[str, int | None]:
    """Input form and opset of the text of a `ModelForm`. Of another text, which only a foreign workspace has, the text itself."""
    found = _WITH_OPSET.fullmatch(text)
    return (text, None) if found is None else (found[1], int(found[2]))


def bakeable(instance: Instance) -> tuple[int, ...]:
    """Places of the inputs of *instance* that models usually hold as constants: axes, shapes, sizes, pads, scales, limits.

    Those are, in every ONNX operator, behind the first input, of rank 0 or 1, and integral or small. Other libraries pass
    such things as parameters, which are constants already.
    """
    if not instance.kind.behaviour.is_model:
        return ()
    if facts_of(instance.library).constants:
        return tuple(range(len(instance.call)))
    return tuple(
        index
        for index, argument in enumerate(instance.call)
        if index > 0
        and isinstance(argument.value, Tensor)
        and len(argument.value.shape) <= 1
        and (not is_inexact(argument.value.dtype) or argument.value.size <= _SMALL)
    )


def document_in(document: str, form: ModelForm) -> str:
    """The `instance/1` *document* of what the library calls in *form*."""
    if form.inputs.value not in _OF_LIBRARIES:
        return document
    found = json.loads(document)
    return json.dumps({**found, "context": [*found.get("context", []), [OUTCOME, form.inputs.value]]})


def constant_inputs(instance: Instance, form: InputForm) -> tuple[int, ...]:
    """Places of the inputs of *instance* that are constants of the model in *form*; inputs are arguments, or tensors in them."""
    if form is InputForm.RUNTIME or form.has_outcome:
        return ()
    if form is InputForm.CONSTANT and form.value in facts_of(instance.library).forms:
        return tuple(range(1, sum(isinstance(each, Tensor) for argument in instance.call for each in walk(argument.value))))
    if form is not InputForm.CONSTANT or facts_of(instance.library).constants:
        return bakeable(instance)
    is_model = instance.kind.behaviour.is_model
    return tuple(index for index, argument in enumerate(instance.call) if is_model and index > 0 and isinstance(argument.value, Tensor))


def forms_of(instance: Instance, wanted: tuple[InputForm, ...]) -> tuple[InputForm, ...]:
    """The forms among *wanted* in which *instance* gives different models; one without a constant is `runtime`."""
    found: dict[tuple[tuple[int, ...], InputForm | None], InputForm] = {}
    for each in wanted:
        places = constant_inputs(instance, each)
        if each.value in _OF_LIBRARIES:
            known = each.value in facts_of(instance.library).forms and instance.kind.behaviour.has_one_operator
            if known and (each.has_outcome or _has_sizes(instance, places)):
                found.setdefault((places, each), each)
        elif each is not InputForm.FOLDED or facts_of(instance.library).constants:
            found.setdefault((places, each if each is InputForm.FOLDED and places else None), each if places else InputForm.RUNTIME)
    return tuple(found.values())


def _has_sizes(instance: Instance, constants: Collection[int]) -> bool:
    """Whether an input of *instance* has dimensions; inputs in the places *constants* do not count."""
    is_model = instance.kind.behaviour.is_model
    arguments = [each for index, each in enumerate(instance.call) if not is_model or index not in constants]
    return any(isinstance(value, Tensor) and value.shape for each in arguments for value in walk(each.value))


def is_drawn(instance: Instance) -> bool:
    """Whether another seed gives another test: values that were not kept are drawn, and so are the weights of modules."""
    if instance.kind is Kind.MODULE:
        return True
    values = (each for argument in instance.arguments() for each in walk(argument.value))
    return any(isinstance(each, Call) or (isinstance(each, Tensor) and each.data is None and each.size > 0) for each in values)
