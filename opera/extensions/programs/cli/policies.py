"""What the commands of `opera fuzz` share: policies from files, and programs that become instances of the workspace."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import cast

import click
import numpy as np

from opera.console import one_line
from opera.corpus.files import Entry, Problem
from opera.errors import UserError
from opera.extensions.programs.batch import BatchCounts
from opera.extensions.programs.check import NotDefined, check, evaluate
from opera.extensions.programs.cli.readers import documents_in
from opera.extensions.programs.cover import CoveringGenerator
from opera.extensions.programs.document import BadProgram, decode
from opera.extensions.programs.generate import Generated
from opera.extensions.programs.inserted import InsertedBlock
from opera.extensions.programs.languages import drawn_from, fitting, languages, operators_in, registry
from opera.extensions.programs.policy import SHIPPED, BadPolicy, Policy, hint, policy_from
from opera.extensions.programs.program import Program, canonical
from opera.extensions.programs.recording import read_programs
from opera.extensions.programs.values import ANY, Bounds, ProgramValue, drawn
from opera.store import Corpus
from opera.store.database import open_workspace
from opera.untrusted import Malformed, parsed_json, parsed_toml, read_file

ONNX = "onnx"
_BATCH = 500


def recorded(file: Path, language: str, workspace: Path) -> int:
    """Adds the programs of *file* to the workspace.

    Returns:
        How many were new.

    Raises:
        UserError: *file* holds something else than programs.
    """
    new = 0
    entries = read_programs(file, language)
    with open_workspace(workspace, write=True) as space:
        corpus = Corpus(space)
        while batch := list(islice(entries, _BATCH)):
            for problem in (each for each in batch if isinstance(each, Problem)):
                raise UserError(one_line(problem.text, 400))
            new += corpus.add((each.instance, each.provenance[0]) for each in batch if isinstance(each, Entry))
    return new


def coverage_of(policy: Policy, counts: BatchCounts) -> str:
    """How many of the choices of operators that *policy* covers have a program now."""
    choices = CoveringGenerator(policy, drawn_from(policy)).choices
    return f"{counts.covered:,} of {choices:,} choices of operators have a program now ({counts.covered / choices:.1%})"


LANGUAGE = click.option(
    "--language", type=click.Choice(languages()), help="Write the programs in this language; by default, in the policy's, else in onnx."
)


def policy_named(name: str, language: str | None = None) -> Policy:
    """The shipped policy *name*, or the policy of a TOML or JSON file; with *language*, in this language.

    Raises:
        UserError: there is none, or a malformed one.
    """
    if name in SHIPPED:
        return SHIPPED[name] if language is None else replace(SHIPPED[name], language=language)
    path = Path(name)
    if path.suffix not in (".toml", ".json"):
        raise UserError(f"unknown policy {one_line(repr(name))}{hint(name, list(SHIPPED))}; a file of a policy ends in .toml or .json")
    try:
        data = read_file(path, 2**20)
        document = parsed_toml(data) if path.suffix == ".toml" else parsed_json(data, unique=True)
        if not isinstance(document, Mapping):
            raise BadPolicy("expected a table")
        table = {**cast("Mapping[str, object]", document), **({} if language is None else {"language": language})}
        language = str(table.get("language", "onnx"))
        names = [each.name for each in operators_in(language)] if language in languages() else []
        return _with_block(policy_from(table, names, languages()), path.parent)
    except (Malformed, BadPolicy) as error:
        raise UserError(f"{one_line(name)}: {one_line(str(error), 400)}") from error
    except OSError as error:
        raise UserError(f"{one_line(name)} cannot be read: {error.strerror}") from error


def _with_block(policy: Policy, folder: Path) -> Policy:
    """*policy* with the program that it inserts, which is named relative to the policy's own folder.

    Raises:
        BadPolicy: that is no program, or one that cannot be inserted.
    """
    drawn_from(policy)
    if not policy.insert:
        return policy
    path = folder / policy.insert
    place = f"'insert': {policy.insert}"
    try:
        documents = documents_in(path)[0]
        blocks: list[Program] = []
        why = "there is no program"
        for number, document in enumerate(documents, 1):
            place = f"'insert': {policy.insert}:{number}"
            program = decode(document).program
            check(program, registry())
            block = InsertedBlock(program)
            missing = fitting(program, policy.language)
            if missing is not None:
                why = f"{policy.language} {missing}"
            elif block.elements > policy.most_elements:
                why = f"a tensor has {block.elements:,} elements, and 'most_elements' allows {policy.most_elements:,}"
            else:
                blocks.append(program)
        if not blocks:
            raise BadPolicy(why)
    except OSError as error:
        raise BadPolicy(f"'insert': {policy.insert} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise BadPolicy(f"{place}: {error}") from error
    return replace(policy, blocks=tuple(blocks))


@dataclass(frozen=True)
class GivenPrograms:
    """What a file gives.

    Attributes:
        programs: With canonical names, on inputs on which they are defined.
        opaque: The nodes and inputs of a model that no program can hold, each with the reason.
    """

    programs: list[Generated]
    opaque: tuple[str, ...] = ()


def programs_in(path: Path, language: str) -> GivenPrograms:
    """The programs of a file.

    Args:
        path: An ONNX model, a `program/1` document or a module that `tvm.ir.save_json` wrote (`.json`), or one document a line.
        language: That has to hold them.

    Raises:
        UserError: a program is malformed, ill-typed, not in the language, or defined on no inputs that were tried.
    """
    place = one_line(str(path))
    found: list[Generated] = []
    opaque: tuple[str, ...] = ()
    try:
        documents, opaque = documents_in(path)
        for number, document in enumerate(documents, 1):
            place = f"{one_line(str(path))}:{number}"
            generated = decode(document)
            check(generated.program, registry())
            missing = fitting(generated.program, language)
            if missing is not None:
                raise BadProgram(f"{language} {missing}")
            found.append(Generated(canonical(generated.program), _inputs(generated)))
    except OSError as error:
        raise UserError(f"{place} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise UserError(f"{place}: {one_line(str(error), 400)}") from error
    return GivenPrograms(found, opaque)


def _inputs(generated: Generated) -> tuple[ProgramValue, ...]:
    """The inputs of a document; drawn ones for a model, which has none."""
    parameters = generated.program.main.parameters
    if len(generated.inputs) == len(parameters):
        evaluate(generated.program, generated.inputs, registry())
        return generated.inputs
    for number, bounds in enumerate((ANY, Bounds(0.25, 2.0), Bounds(0.0, 0.0), Bounds(0.0, 1.0))):
        numbers = np.random.default_rng(number)
        inputs = tuple(drawn(each.type, bounds, numbers) for each in parameters)
        try:
            evaluate(generated.program, inputs, registry())
            return inputs
        except NotDefined:
            continue
    raise BadProgram("the program is defined on none of the inputs that were tried; give a program/1 document with inputs")
