"""Makes the statements of a test shorter, without changing the model that it shows."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import cast

import numpy as np

from opera.arrays import Array, ModelValue, as_array, is_array
from opera.extensions.suites.statements import PLAIN, Store, assignment

TENSORS = '''
def tensors(result):
    """The tensors in a nested result."""
    leaves = torch.utils._pytree.tree_leaves(result)
    return tuple(leaf for leaf in leaves if isinstance(leaf, torch.Tensor))
'''
"""A function for modules whose tests call it."""


def tidied(statements: Sequence[ast.stmt]) -> list[ast.stmt]:
    """*statements* of a PyTorch model without what every test would repeat: see `TENSORS`; and without a seed that nothing uses."""
    kept = [cast(ast.stmt, _Tensors().visit(each)) for each in statements]
    has_parameters = any(isinstance(node, ast.FunctionDef) and node.name == "__init__" for each in kept for node in ast.walk(each))
    return [each for each in kept if has_parameters or not ast.unparse(each).startswith("torch.manual_seed(")]


class _Tensors(ast.NodeTransformer):
    """Writes `tensors(result)` for the tuple of all tensors in a result."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        match node:
            case ast.Call(
                func=ast.Name(id="tuple"),
                args=[
                    ast.GeneratorExp(
                        elt=ast.Name(id="leaf"),
                        generators=[ast.comprehension(iter=ast.Call(func=ast.Name(id="tree_leaves"), args=[result]))],
                    )
                ],
            ):
                return ast.Call(ast.Name("tensors", ast.Load()), [result], [])
            case _:
                return self.generic_visit(node)


def in_place(statements: Sequence[ast.stmt]) -> tuple[list[ast.stmt], str]:
    """*statements* without `model = ...` if nothing else uses the name, and the expression for the model."""
    names = [node.id for each in statements for node in ast.walk(each) if isinstance(node, ast.Name) and node.id == "model"]
    for place, each in enumerate(statements):
        match each:
            case ast.Assign(targets=[ast.Name(id="model")], value=ast.Call(func=ast.Name()) as call) if len(names) == 1:
                return [*statements[:place], *statements[place + 1 :]], ast.unparse(call)
            case _:
                pass
    return list(statements), "model"


def apart(statements: Sequence[ast.stmt], test: str) -> tuple[list[ast.stmt], list[ast.stmt]]:
    """The classes among *statements* that need no arrays of the test, under names that belong to *test*, and the rest."""
    models = [each for each in statements if isinstance(each, ast.ClassDef) and not _uses_data(each)]
    for each in models:
        own = f"{each.name}_{test.rpartition('_')[2]}"
        for node in (node for statement in statements for node in ast.walk(statement)):
            if isinstance(node, ast.Name) and node.id == each.name:
                node.id = own
        each.name = own
    return list(models), [each for each in statements if each not in models]


def _uses_data(statement: ast.stmt) -> bool:
    return any(isinstance(node, ast.Name) and node.id == "data" for node in ast.walk(statement))


def without_lists(
    statements: Sequence[ast.stmt], inputs: Mapping[str, ModelValue], expected: Sequence[ModelValue], store: Store
) -> list[ast.stmt]:
    """*statements* whose long lists of inputs and outputs come from *store* in one line each."""
    changed: list[ast.stmt] = []
    for each in statements:
        match each:
            case ast.Assign(targets=[ast.Name(id="expected")], value=ast.List(elts=elements)) if len(elements) > 1:
                changed.append(_listed("expected", list(expected), store) or each)
            case ast.Assign(targets=[ast.Name(id="inputs")], value=ast.Tuple(elts=elements)) if len(elements) > 1:
                changed.append((None if "strided(" in ast.unparse(each) else _listed("inputs", list(inputs.values()), store)) or each)
            case ast.Assign(targets=[ast.Name(id="inputs")], value=ast.Dict(keys=keys)) if len(keys) > 1:
                names = [str(key.value) for key in keys if isinstance(key, ast.Constant)]
                changed.append(_named({name: inputs[name] for name in names if name in inputs}, store) or each)
            case _:
                changed.append(each)
    used = "\n".join(map(ast.unparse, changed))
    for name in [name for name in store.arrays if f"data['{name}']" not in used and not name.startswith(_PREFIXES) and name not in inputs]:
        del store.arrays[name]
    return changed


_PREFIXES = ("expected_", "inputs_")


def _listed(name: str, values: Sequence[ModelValue], store: Store) -> ast.stmt | None:
    """The assignment of all *values* from *store*; None if one of them is no array of numpy's own dtypes."""
    arrays = [as_array(value) for value in values if is_array(value)]
    if len(arrays) != len(values) or not all(_is_plain(array) for array in arrays):
        return None
    for place, array in enumerate(arrays):
        store.put(array, f"{name}_{place}")
    item = f'data[f"{name}_{{place}}"]'
    if name == "expected":
        return assignment(name, ast.parse(f"[{item} for place in range({len(arrays)})]", mode="eval").body)
    return assignment(name, ast.parse(f"tuple(torch.from_numpy({item}) for place in range({len(arrays)}))", mode="eval").body)


def _named(values: Mapping[str, ModelValue], store: Store) -> ast.stmt | None:
    arrays = {name: as_array(value) for name, value in values.items() if is_array(value)}
    if len(arrays) != len(values) or not all(_is_plain(array) for array in arrays.values()) or arrays.keys() & store.arrays.keys():
        return None
    for name, array in arrays.items():
        store.put(array, name)
    return assignment("inputs", ast.parse(f"{{name: data[name] for name in {list(arrays)!r}}}", mode="eval").body)


def _is_plain(array: Array) -> bool:
    return np.asarray(array).dtype.char in PLAIN
