"""The fields of every part of a suite: one table for the validator, the suggestions and the JSON Schema."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Holds(enum.Enum):
    """What a field holds."""

    TEXT = "text"
    FLAG = "true or false"
    LITERAL = "a literal"
    NUMBER = "a number or the name of a dimension"
    LENGTH = "an integer or the name of a dimension"
    SHAPE = "a list of sizes"
    INTEGERS = "a list of integers"
    KIND = "float, int or bool"
    DTYPE = "a dtype"
    INIT = "a way to draw values"
    NODE = "a node"
    NODES = "a list of nodes"
    NAMED_NODES = "a mapping from names to nodes"
    REFERENCE = "the name of a preset, or a variable"
    PATH = "an import path, or file:PATH.py::NAME"
    ARGUMENTS = "a list of nodes and literals"
    KEYWORDS = "a mapping from names to nodes and literals"
    VARIABLES = "a mapping from names to lists of values"
    CASES = "a list of mappings from variables to values"
    COMMON = "args and kwargs"
    SIDE = "a module with the field impl"
    OPERATOR = "an operator, a module or a template"
    DEVICE = "a device"
    INCLUDE = "a file name, or a list of file names"
    DIMS = "a mapping from names to integers"
    PRESETS = "a mapping from names to nodes"
    TESTS = "a list of tests"
    ANYTHING = "anything"


@dataclass(frozen=True)
class Field:
    """A field of a mapping.

    Attributes:
        name: Its key.
        holds: What its value is.
        about: What it means, for editors.
        required: Whether the mapping must have it.
    """

    name: str
    holds: Holds
    about: str
    required: bool = False


@dataclass(frozen=True)
class Form:
    """A kind of mapping.

    Attributes:
        name: The value of its field `type`; of parts without `type`, what they are.
        about: What it is.
        fields: Its fields, without `type`.
        typed: Whether it has the field `type`.
        kind_or_dtype: Whether one of `kind` and `dtype` is required.
    """

    name: str
    about: str
    fields: tuple[Field, ...]
    typed: bool = True
    kind_or_dtype: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The keys that it may have."""
        return (("type",) if self.typed else ()) + tuple(each.name for each in self.fields)


KINDS = {"float": "float32", "int": "int64", "bool": "bool"}
"""The dtype that a kind stands for."""
DTYPES = (
    "bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64",
    "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu", "complex32", "complex64", "complex128",
)  # fmt: skip
ALIASES = {
    "half": "float16", "float": "float32", "double": "float64", "short": "int16", "int": "int32", "long": "int64",
    "chalf": "complex32", "cfloat": "complex64", "cdouble": "complex128",
}  # fmt: skip
"""Other names of torch for some dtypes."""
SCALAR_TYPES = {
    0: "uint8", 1: "int8", 2: "int16", 3: "int32", 4: "int64", 5: "float16", 6: "float32", 7: "float64", 8: "complex32", 9: "complex64",
    10: "complex128", 11: "bool", 15: "bfloat16", 23: "float8_e5m2", 24: "float8_e4m3fn", 25: "float8_e5m2fnuz", 26: "float8_e4m3fnuz",
    27: "uint16", 28: "uint32", 29: "uint64", 44: "float8_e8m0fnu",
}  # fmt: skip
"""The dtypes by the number that ATen operators take in their place."""
INITS = ("normal", "uniform", "randint", "zeros", "ones", "bernoulli")
DEVICES = ("cpu", "gpu", "cuda", "mps")

_KIND = Field("kind", Holds.KIND, "float (float32), int (int64) or bool; instead of dtype.")
_DTYPE = Field("dtype", Holds.DTYPE, "Name of a torch dtype without `torch.`; instead of kind.")
_LOW = Field("low", Holds.NUMBER, "Smallest value that is drawn; with high.")
_HIGH = Field("high", Holds.NUMBER, "Largest value that is drawn; with low.")
_P = Field("p", Holds.NUMBER, "Probability of 1, or of true, from 0 to 1; by default 0.5.")
_INIT = Field("init", Holds.INIT, "How values are drawn; by default from the dtype.")
_MEAN = Field("mean", Holds.NUMBER, "Mean of the normal distribution; by default 0.")
_STD = Field("std", Holds.NUMBER, "Standard deviation of the normal distribution; by default 1.")
_SAMPLING = (_INIT, _LOW, _HIGH, _MEAN, _STD, _P)
_VALUE = Field("value", Holds.LITERAL, "The value itself, instead of a drawn one.")
_SHAPE = Field("shape", Holds.SHAPE, "Sizes: integers, or names of dimensions.", required=True)
_PATH = Field("path", Holds.PATH, "Class to construct: an import path, or file:PATH.py::NAME.", required=True)
_ARGS = Field("args", Holds.ARGUMENTS, "Positional arguments of the constructor.")
_KWARGS = Field("kwargs", Holds.KEYWORDS, "Keyword arguments of the constructor.")
_VARS = Field("vars", Holds.VARIABLES, "Template variables, each with a list of values.", required=True)
_CASES = Field("cases", Holds.CASES, "Assignments to use instead of the product; variables that a case leaves out still vary.")

_FORMS = (
    Form("ref", "The value of a preset.", (Field("ref", Holds.REFERENCE, "Name of a preset, or {var: NAME}.", required=True),)),
    Form("var", "The value of a template variable.", (Field("name", Holds.TEXT, "Name of the variable.", required=True),)),
    Form(
        "tensor",
        "A tensor with drawn values.",
        (
            _SHAPE,
            _KIND,
            _DTYPE,
            *_SAMPLING,
            Field("requires_grad", Holds.FLAG, "Whether the tensor requires a gradient; by default false."),
        ),
        kind_or_dtype=True,
    ),
    Form("scalar", "A Python scalar.", (_KIND, _DTYPE, _VALUE, _LOW, _HIGH, _P), kind_or_dtype=True),
    Form("scalar_tensor", "A tensor of rank 0.", (_KIND, _DTYPE, _VALUE, *_SAMPLING), kind_or_dtype=True),
    Form("int_list", "A list of integers.", (Field("elems", Holds.INTEGERS, "The integers; at least one.", required=True),)),
    Form(
        "list",
        "A list of values that one node describes.",
        (
            Field("len", Holds.LENGTH, "Number of elements.", required=True),
            Field("elem", Holds.NODE, "Node of each element.", required=True),
        ),
    ),
    Form("tuple", "A tuple of values.", (Field("elems", Holds.NODES, "A node for each element.", required=True),)),
    Form(
        "optional",
        "A value, or none.",
        (
            Field("p_none", Holds.NUMBER, "Probability of none, from 0 to 1; by default 0."),
            Field("elem", Holds.NODE, "Node of the value.", required=True),
        ),
    ),
    Form("const", "A literal.", (Field("value", Holds.LITERAL, "A number, text, boolean, null, list or mapping.", required=True),)),
    Form("const_tensor", "A tensor of a fixed shape.", (_SHAPE, _KIND, _DTYPE, _VALUE, *_SAMPLING), kind_or_dtype=True),
    Form(
        "construct",
        "An object that is constructed and given as an argument.",
        (_PATH, Field("args", Holds.ARGUMENTS, "Positional arguments of the constructor; may be empty.", required=True), _KWARGS),
    ),
)
_OPERATIONS = (
    Form("module", "A module that is constructed and called.", (_PATH, _ARGS, _KWARGS)),
    Form("template_module", "A module for each assignment of variables.", (_PATH, _VARS, _CASES, _ARGS, _KWARGS)),
    Form(
        "template_compare_pair",
        "Two modules to compare, for each assignment of variables.",
        (
            _VARS,
            _CASES,
            Field("common", Holds.COMMON, "Constructor arguments of both sides, unless a side has its own."),
            Field("a", Holds.SIDE, "One side.", required=True),
            Field("b", Holds.SIDE, "The other side.", required=True),
        ),
    ),
)
NODES = {each.name: each for each in _FORMS}
"""What may stand where a value is expected."""
OPERATIONS = {each.name: each for each in _OPERATIONS}
"""What may stand as `op`, in addition to the name of an operator."""
COMMON = Form("common", "Constructor arguments of both sides.", (_ARGS, _KWARGS), typed=False)
SIDE = Form(
    "side", "One side of a pair.", (Field("impl", Holds.TEXT, "Label of the implementation.", required=True), _PATH, _ARGS, _KWARGS)
)
TEST = Form(
    "test",
    "A test.",
    (
        Field("id", Holds.TEXT, "Name of the test; unique in the suite."),
        Field("impl", Holds.TEXT, "Label of the implementation; with an operator, torch.NAME calls that function instead."),
        Field("op", Holds.OPERATOR, "What runs: aten::NAME, a module, a template_module or a template_compare_pair.", required=True),
        Field("in", Holds.NODES, "Positional inputs.", required=True),
        Field("kwargs", Holds.NAMED_NODES, "Keyword arguments."),
        Field("out", Holds.ANYTHING, "Expected outputs; kept, not checked."),
        Field("device", Holds.DEVICE, "cpu, gpu, cuda or mps; by default cpu."),
        Field("cast_input0_to_complex", Holds.FLAG, "Whether input 0 is passed as pairs of real and imaginary parts; by default false."),
    ),
    typed=False,
)
DOCUMENT = Form(
    "suite",
    "An OpiDiff suite.",
    (
        Field("include", Holds.INCLUDE, "Files whose content comes before this file's."),
        Field("dims", Holds.DIMS, "Named sizes."),
        Field("presets", Holds.PRESETS, "Named nodes."),
        Field("tests", Holds.TESTS, "The tests.", required=True),
    ),
    typed=False,
)
