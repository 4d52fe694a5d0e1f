"""Checks a script before it is written: it has the intended docstring, and names only listed operators.

Texts of a corpus or a campaign stand in scripts as literals. This finds out where one of them has become anything else.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from opera.instrumentation.tensors import DTYPE_BITS
from opera.models.operators import FOLDER, operators_of

_MODULES = ("torch", "keras", "tf", "onnx", "helper", "numpy_helper", "np", "ml_dtypes", "base64", "lzma", "os", "math", "operator")
_KNOWN = frozenset(
    [
        "torch.nn.Module", "torch.Tensor", "torch.device", "torch.manual_seed", "torch.no_grad",
        "keras.Input", "keras.Model", "keras.config.set_floatx", "keras.config.set_dtype_policy", "keras.config.set_image_data_format",
        "keras.utils.set_random_seed", "keras.ops.convert_to_numpy", "keras.tree.flatten", "tf.Module", "tf.constant", "tf.nest.flatten",
        "onnx.load_model_from_string", "onnx.parser.parse_model", "numpy_helper.from_array", "helper.make_graph", "helper.make_model",
        "helper.make_node", "helper.make_opsetid", "helper.make_tensor_value_info", "np.array", "np.frombuffer", "np.full", "np.ones",
        "np.zeros", "np.inf", "np.nan", "base64.b85decode", "lzma.decompress", "os.environ",
    ]
)  # fmt: skip
"""The names that the model templates themselves write, in addition to data types."""
_DATA_TYPES = re.compile(rf"(torch|tf|np|ml_dtypes)\.({'|'.join(DTYPE_BITS)})|onnx\.TensorProto\.[A-Z0-9]+")
_CLASS = re.compile(r"from ([\w.]+) import (\w+)", re.ASCII)
_METHODS = frozenset(
    [
        "__init__",
        "as_strided",
        "contiguous",
        "cpu",
        "detach",
        "clone",
        "copy",
        "copy_",
        "dtype",
        "numpy",
        "operator",
        "reshape",
        "resolve_conj",
        "resolve_neg",
        "shape",
        "to",
        "train",
        "view",
        "beside",
        "load_state_dict",
        "state_dict",
    ]
)
_BUILTINS = frozenset(
    ["Ellipsis", "bool", "bytes", "complex", "dict", "float", "frozenset", "int", "isinstance", "list", "object", "range", "set", "slice",
     "str", "sum", "super", "tree_leaves", "tuple", "zip"]
)  # fmt: skip


def said(text: str) -> str:
    """*text* as it can stand in a docstring: in one line, without what ends the string or begins an escape."""
    line = "".join(character if character.isprintable() else " " for character in text)
    return line.replace('"""', "'''").replace("\\", "/")


def objection(script: str, docstring: str, model: str, library: str, imported: Iterable[str] = ()) -> str | None:
    """Why *script* must not be written; None where it is what it is to be.

    Args:
        script: The whole of it.
        docstring: What it is to say first.
        model: The part of it that defines the library's model and inputs, and the expected outputs.
        library: Whose model it is.
        imported: The lines that import what the model needs.
    """
    try:
        body = ast.parse(script).body
    except (SyntaxError, ValueError) as error:
        return f"the script is not valid Python: {error}"
    first = body[0] if body else None
    if not isinstance(first, ast.Expr) or not isinstance(first.value, ast.Constant) or first.value.value != docstring:
        return "the first statement of the script is not its docstring"
    return foreign_names(model, library, imported)


def classes_in(imported: Iterable[str]) -> dict[str, str]:
    """The classes that the user trusts among *imported*, lines of imports: name and module."""
    found = (_CLASS.fullmatch(line) for line in imported)
    return {match[2]: match[1] for match in found if match is not None and match[1].partition(".")[0] not in _MODULES}


def foreign_names(model: str, library: str, imported: Iterable[str] = ()) -> str | None:
    """Why *model*, source of a model of *library*, must not be written; None if it names only listed operators and what *imported* has."""
    try:
        part = ast.parse(model)
    except (SyntaxError, ValueError) as error:
        return f"the model is not valid Python: {error}"
    return next(_strangers(part, library, frozenset(classes_in(imported))), None) if (FOLDER / f"{library}.toml").is_file() else None


def _strangers(part: ast.Module, library: str, classes: frozenset[str]) -> Iterator[str]:
    """Names that neither the templates write nor the library's list admits."""
    own = classes | _BUILTINS | {node.arg for node in ast.walk(part) if isinstance(node, ast.arg)}
    for node in ast.walk(part):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            own |= {node.id}
        elif isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            own |= {node.name}
    inner = {id(node.value) for node in ast.walk(part) if isinstance(node, ast.Attribute)}
    for node in ast.walk(part):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            if ast.unparse(node) not in ("import os", "import keras"):
                yield f"the script has {ast.unparse(node)!r}"
        elif isinstance(node, (ast.Name, ast.Attribute)) and id(node) not in inner:
            yield from _stranger(node, own, library)


def _stranger(node: ast.Name | ast.Attribute, own: frozenset[str], library: str) -> Iterator[str]:
    parts: list[str] = []
    base: ast.expr = node
    while isinstance(base, ast.Attribute):
        parts.insert(0, base.attr)
        base = base.value
    if isinstance(base, ast.Name) and base.id in _MODULES and base.id not in own:
        path = ".".join((base.id, *parts))
        known = path in _KNOWN or _DATA_TYPES.fullmatch(path) is not None
        if not known and operators_of(library).objection(path, called=False) is not None:
            yield f"the script names {path}"
        return
    if isinstance(base, ast.Name) and base.id not in own:
        yield f"the script names {base.id}"
    if not set(parts) <= _METHODS:
        yield f"the script uses {'.'.join(parts)}"
