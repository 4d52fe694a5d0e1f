"""`opera fuzz`: programs of many operators."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import cast

import click

from opera.atomic import replacing
from opera.cli.help import HeadedGroup
from opera.cli.options import JOBS, Count, common
from opera.config import load_config
from opera.console import doing, one_line, plural, print_json, say
from opera.corpus.files import Entry, Problem, export
from opera.corpus.programs import read_programs
from opera.corpus.selection import Selection
from opera.errors import EnvironmentBroken, Exit, NothingSelected, UserError
from opera.extract.host import answer
from opera.programs.batch import BatchCounts, OtherPrograms, generate_file
from opera.programs.check import check
from opera.programs.document import decode
from opera.programs.generate import INSERTED
from opera.programs.inserted import InsertedBlock
from opera.programs.instances import SOURCE
from opera.programs.languages import drawn_from, fitting, languages, operators_in, registry
from opera.programs.policy import SHIPPED, BadPolicy, Policy, hint, policy_from
from opera.programs.program import Program
from opera.store import Corpus
from opera.store.database import open_workspace
from opera.untrusted import Malformed, parsed_json, parsed_toml, read_file
from opera.workers.cores import usable_cores
from opera.workers.supervision import working_folder

SCHEMA = "fuzz-generate/1"
SEEDS_SCHEMA = "fuzz-seeds/1"
_ONNX = "onnx"
_BATCH = 500
_LARGEST = 2**26
"""Bytes of a file with a program to insert."""


@click.group("fuzz", cls=HeadedGroup)
def command() -> None:
    """Generate programs of many operators."""


@command.command("generate")
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--policy", default="general", show_default=True, metavar="NAME|FILE", help="A shipped policy, or a TOML or JSON file.")
@click.option("--count", "-n", type=Count(most=100_000_000), default=1000, show_default=True, metavar="N", help="Generate N programs.")
@click.option("-j", "--jobs", type=JOBS, default=usable_cores, show_default="the cores", metavar="N", help="Number of parallel processes.")
@click.option("--record", is_flag=True, help="Also add the programs to the workspace, as instances of the policy's language.")
@common
def generate(file: Path, policy: str, count: int, jobs: int, record: bool, workspace: Path, seed: int, as_json: bool) -> int:
    """Write random programs to FILE, one `program/1` document a line.

    Every program is well typed. FILE also holds its inputs: unless the policy allows special values, every operator is defined on them. The
    same policy and seed give the same bytes with any number of processes; a run that was interrupted continues. `opera run` tests the
    programs that --record, or `opera import FILE`, adds to the workspace.

    Shipped policies: general, fusion (many convolutions and products, values used again), shapes (operators that move elements),
    special-values (NaN, infinities, zeros of both signs).
    """
    chosen = _policy(policy)
    began = time.monotonic()
    try:
        counts = generate_file(chosen, seed, count, file, jobs, lambda done: doing(f"{done:,} of {count:,} programs"))
    except OtherPrograms as error:
        raise UserError(one_line(str(error), 400)) from error
    except OSError as error:
        raise UserError(f"{one_line(str(file))} cannot be written: {error.strerror or error}") from error
    seconds = time.monotonic() - began
    if counts.programs and not counts.operators:
        raise NothingSelected("no program has an operator: none gives the types of 'dtypes' and 'rank'; change these or 'only'")
    added = _recorded(file, chosen.language, workspace) if record else None
    if as_json:
        print_json(_document(file, count, seconds, counts, added))
        return Exit.CLEAN
    rate = f" ({counts.programs / seconds:,.0f}/s)" if counts.programs else ""
    say(f"{plural(count, 'program')} in {one_line(str(file))}; {counts.programs:,} of them generated now, in {seconds:.1f} s{rate}")
    if counts.programs:
        calls, retried = counts.operators.total(), counts.retried.total()
        say(f"{plural(len(counts.operators), 'operator')}, {len(counts.pairs):,} pairs, {calls / counts.programs:.1f} calls a program")
        inserted = counts.asked[INSERTED] - counts.retried[INSERTED]
        if inserted:
            say(f"{inserted:,} values come from inserted programs, {inserted / counts.programs:.1f} a program")
        say(f"{retried:,} of {counts.asked.total():,} choices of an operator were in vain")
    if added is not None:
        say(f"{plural(added, 'new instance')} of {chosen.language} in the workspace, from source {SOURCE}")
    for name, why in sorted(counts.broken.items()):
        say(f"operator {one_line(name)} is broken, and was left out: {one_line(why)}")
    return Exit.CLEAN


@command.command("seeds")
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False))
@common
def seeds(file: Path, workspace: Path, seed: int, as_json: bool) -> int:
    """Write recorded ONNX instances to FILE as programs.

    Each is read as a program of one or a few operators, with the parameters of its recorded call. A policy with `insert = "FILE"` inserts
    them into other programs where their types fit. Instances with an operator that programs do not have are counted, and left out.
    """
    with open_workspace(workspace, write=False) as space, working_folder("seeds", space.scratch) as scratch:
        given, made = scratch / "instances.jsonl", scratch / "programs.jsonl"
        export(space, Selection(_ONNX, outcome=None), seed, str(given))
        counted = cast("dict[str, int]", _read_by("program_seeds", [str(given), str(made)], scratch))
        if not counted.get("programs"):
            instances = plural(counted.get("instances", 0), "recorded instance")
            raise NothingSelected(f"none of {instances} of onnx can be read as a program; record more: opera extract --lib onnx")
        with replacing(file) as output:
            output.write(made.read_bytes())
    if as_json:
        print_json({"schema": SEEDS_SCHEMA, "file": str(file), **counted})
        return Exit.CLEAN
    say(
        f"{plural(counted['programs'], 'distinct program')} in {one_line(str(file))}, from {counted['read']:,} of"
        f" {plural(counted['instances'], 'recorded instance')}; no solver draws {counted['beyond']:,} of them"
    )
    return Exit.CLEAN


def _recorded(file: Path, language: str, workspace: Path) -> int:
    """Adds the programs of *file* to the workspace; how many were new."""
    new = 0
    entries = read_programs(file, language)
    with open_workspace(workspace, write=True) as space:
        corpus = Corpus(space)
        while batch := list(islice(entries, _BATCH)):
            for problem in (each for each in batch if isinstance(each, Problem)):
                raise UserError(one_line(problem.text, 400))
            new += corpus.add((each.instance, each.provenance[0]) for each in batch if isinstance(each, Entry))
    return new


def _policy(name: str) -> Policy:
    if name in SHIPPED:
        return SHIPPED[name]
    path = Path(name)
    if path.suffix not in (".toml", ".json"):
        raise UserError(f"unknown policy {one_line(repr(name))}{hint(name, list(SHIPPED))}; a file of a policy ends in .toml or .json")
    try:
        data = read_file(path, 2**20)
        document = parsed_toml(data) if path.suffix == ".toml" else parsed_json(data)
        if not isinstance(document, Mapping):
            raise BadPolicy("expected a table")
        table = cast("Mapping[str, object]", document)
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
        documents = [_model(path)] if path.suffix == ".onnx" else _documents_in(path)
        blocks: list[Program] = []
        for number, document in enumerate(documents, 1):
            place = f"'insert': {policy.insert}:{number}"
            program = decode(document).program
            check(program, registry())
            InsertedBlock(program)
            missing = fitting(program, policy.language)
            if missing is None:
                blocks.append(program)
        if not blocks:
            raise BadPolicy(f"{policy.language} has no program of these")
    except OSError as error:
        raise BadPolicy(f"'insert': {policy.insert} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise BadPolicy(f"{place}: {error}") from error
    return replace(policy, blocks=tuple(blocks))


def _documents_in(path: Path) -> list[object]:
    """The document in a file, or those on its lines."""
    data = read_file(path, _LARGEST)
    return [parsed_json(each) for each in ([data] if path.suffix == ".json" else data.splitlines())]


def _model(path: Path) -> object:
    """The document of an ONNX model's program, which a process of the library's own interpreter reads."""
    if not path.is_file():
        raise BadPolicy("there is no such file")
    with tempfile.TemporaryDirectory(prefix="opera-") as scratch:
        found = _read_by("program_from_onnx", [str(path.resolve())], Path(scratch))
    if "error" in found:
        raise BadPolicy(str(found["error"]))
    return found


def _read_by(module: str, arguments: list[str], scratch: Path) -> Mapping[str, object]:
    """What a reader of ONNX prints, in a process of the library's own interpreter.

    Raises:
        EnvironmentBroken: it does not run there.
    """
    python = load_config().python("library", _ONNX)
    text = answer([python, "-m", f"opera.templates.{module}", *arguments], scratch)
    try:
        found = parsed_json(text.rpartition("\n")[2].encode())
        if isinstance(found, Mapping):
            return cast("Mapping[str, object]", found)
    except Malformed:
        pass
    raise EnvironmentBroken(f"{python} cannot read ONNX models ({one_line(text[-200:])}); install OPERA and onnx there")


def _document(file: Path, count: int, seconds: float, counts: BatchCounts, added: int | None) -> dict[str, object]:
    return {
        "schema": SCHEMA,
        "file": str(file),
        "programs": count,
        "generated": counts.programs,
        "seconds": round(seconds, 3),
        "operators": dict(counts.operators.most_common()),
        "pairs": len(counts.pairs),
        "asked": counts.asked.total(),
        "inserted": counts.asked[INSERTED] - counts.retried[INSERTED],
        "retried": dict(counts.retried.most_common()),
        "broken": counts.broken,
        **({} if added is None else {"new_instances": added}),
    }
