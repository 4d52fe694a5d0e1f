"""Programs as entries of a corpus: files with a `program/1` document on each line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from opera.corpus.files import Entry, Problem, check_instance, parse
from opera.corpus.readers import Reader
from opera.extensions.programs.check import check, evaluate
from opera.extensions.programs.document import SCHEMA, decode
from opera.extensions.programs.faults import type_fault
from opera.extensions.programs.generate import Generated
from opera.extensions.programs.instances import SOURCE, instance_of
from opera.extensions.programs.languages import fitting, languages, registry
from opera.instance import Occurrence
from opera.untrusted import Malformed, lines_of


def holds_programs(path: Path) -> bool:
    """Whether the first line of *path* is a program."""
    try:
        _, line = next(lines_of(path), (0, b""))
        return parse(line).get("schema") == SCHEMA
    except (OSError, ValueError):
        return False


def read_programs(path: Path, library: str | None) -> Iterator[Entry | Problem]:
    """The programs of a file, typed again, with a problem in place of each line that holds none.

    Args:
        path: The file.
        library: The language to print them in; None for the first that has all operators of a program.
    """
    try:
        for number, line in lines_of(path):
            try:
                yield entry_of(decode(parse(line)), library, f"{path.name}:{number}")
            except ValueError as error:
                yield Problem(str(path), number, str(error)[:300])
    except (Malformed, OSError) as error:
        yield Problem(str(path), None, str(error))


def entry_of(generated: Generated, library: str | None, test: str) -> Entry:
    """The entry of a program, which *test* names.

    Raises:
        ValueError: it is ill-typed and does not say so or the other way round, not defined on its inputs, or no language has all of its
            operators.
    """
    program = generated.program
    if not generated.ill_typed:
        check(program, registry())
        evaluate(program, generated.inputs, registry())
    elif type_fault(program, registry()) is None:
        raise Malformed("the program says that it is ill-typed, and every call has a type")
    missing = {each: fitting(program, each) for each in ([library] if library in languages() else languages())}
    language = next((each for each, why in missing.items() if why is None), None)
    if language is None:
        raise Malformed("; ".join(f"{each} {why}" for each, why in missing.items()))
    instance = instance_of(generated, language)
    check_instance(instance)
    return Entry(instance, (Occurrence(SOURCE, test),))


PROGRAMS = Reader(read_programs, holds_programs)
