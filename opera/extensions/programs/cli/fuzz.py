"""`opera fuzz`: programs of many operators."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from pathlib import Path

import click

from opera.atomic import output
from opera.cli.help import HeadedGroup
from opera.cli.options import JOBS, Count, OutputFile, common
from opera.console import doing, one_line, plural, print_json, say
from opera.corpus.files import export
from opera.corpus.selection import Selection
from opera.errors import Exit, NothingSelected, UserError
from opera.extensions.programs.batch import BatchCounts, OtherPrograms, generate_file
from opera.extensions.programs.cli.fuzz_assess import command as assess_command
from opera.extensions.programs.cli.fuzz_run import command as run_command
from opera.extensions.programs.cli.policies import LANGUAGE, ONNX, coverage_of, policy_named, programs_in, recorded
from opera.extensions.programs.cli.readers import INSTANCES, READERS, ReadModel, models_in, read_by
from opera.extensions.programs.document import decode, encode
from opera.extensions.programs.generate import INSERTED, ProgramGenerator
from opera.extensions.programs.inserted import InsertedBlock, beyond_solvers
from opera.extensions.programs.instances import SOURCE
from opera.extensions.programs.languages import drawn_from
from opera.extensions.programs.program import Program, calls
from opera.store.database import open_workspace
from opera.workers.cores import usable_cores
from opera.workers.supervision import working_folder

SCHEMA = "fuzz-generate/1"
SEEDS_SCHEMA = "fuzz-seeds/1"
MUTATE_SCHEMA = "fuzz-mutate/1"
_ATTEMPTS = 20
"""Seeds that are tried for each program that is asked for."""


@click.group("fuzz", cls=HeadedGroup)
def command() -> None:
    """Generate programs of many operators, and test compilers with them."""


command.add_command(run_command)
command.add_command(assess_command)


@command.command("generate")
@click.argument("file", metavar="FILE", type=OutputFile())
@click.option("--policy", default="general", show_default=True, metavar="NAME|FILE", help="A shipped policy, or a TOML or JSON file.")
@LANGUAGE
@click.option("--count", "-n", type=Count(most=100_000_000), default=1000, show_default=True, metavar="N", help="Generate N programs.")
@click.option("-j", "--jobs", type=JOBS, default=usable_cores, show_default="the cores", metavar="N", help="Number of parallel processes.")
@click.option("--record", is_flag=True, help="Also add the programs to the workspace, as instances of the policy's language.")
@common
def generate(
    file: Path, policy: str, language: str | None, count: int, jobs: int, record: bool, workspace: Path, seed: int, as_json: bool
) -> int:
    """Write random programs to FILE, one `program/1` document a line.

    Every program is well typed. FILE also holds its inputs: unless the policy allows special values, every operator is defined on them. The
    same policy and seed give the same bytes with any number of processes; a run that was interrupted continues. `opera run` tests the
    programs that --record, or `opera import FILE`, adds to the workspace.

    Shipped policies: general, pairs (few operators; many programs have all ordered pairs), fusion (many convolutions and products, values
    used again), shapes (operators that move elements), special-values (NaN, infinities, and zeros of both signs).
    """
    chosen = policy_named(policy, language)
    began = time.monotonic()
    try:
        counts = generate_file(chosen, seed, count, file, jobs, lambda done: doing(f"{done:,} of {count:,} programs"))
    except OtherPrograms as error:
        raise UserError(one_line(str(error), 400)) from error
    except OSError as error:
        raise UserError(f"{one_line(str(file))} cannot be written: {error.strerror or error}") from error
    seconds = time.monotonic() - began
    if counts.programs and not counts.operators:
        raise NothingSelected(
            "no program has an operator: none gives the types of 'dtypes' and 'rank' within the limits; change these or 'only'"
        )
    added = recorded(file, chosen.language, workspace) if record else None
    if as_json:
        print_json(_document(file, count, seconds, counts, added))
        return Exit.CLEAN
    rate = f" ({counts.programs / seconds:,.0f}/s)" if counts.programs else ""
    say(f"{plural(count, 'program')} in {one_line(str(file))}; {counts.programs:,} of them generated now, in {seconds:.1f} s{rate}")
    if counts.programs:
        calls, retried = counts.operators.total(), counts.retried.total()
        found = (
            f"{plural(len(counts.operators), 'operator')}, {len(counts.parameters):,} with their parameters, {len(counts.pairs):,} pairs"
        )
        say(f"{found}, {calls / counts.programs:.1f} calls a program")
        if chosen.cover:
            say(coverage_of(chosen, counts))
        inserted = counts.asked[INSERTED] - counts.retried[INSERTED]
        if inserted:
            say(f"{inserted:,} values come from inserted programs, {inserted / counts.programs:.1f} a program")
        say(f"{retried:,} of {counts.asked.total():,} choices of an operator were in vain")
    if counts.known:
        names = one_line(", ".join(sorted(counts.known)), 200)
        say(f"{counts.known.total():,} calls were not drawn, because the policy leaves them out: {names}")
    if added is not None:
        say(f"{plural(added, 'new instance')} of {chosen.language} in the workspace, from source {SOURCE}")
    for name, why in sorted(counts.broken.items()):
        say(f"operator {one_line(name)} is broken, and was left out: {one_line(why)}")
    return Exit.CLEAN


@command.command("mutate")
@click.argument("model", metavar="MODEL", type=click.Path(path_type=Path, dir_okay=False))
@click.argument("file", metavar="FILE", type=OutputFile())
@click.option(
    "--policy", default="general", show_default=True, metavar="NAME|FILE", help="Policy of the new expressions: a shipped one, or a file."
)
@LANGUAGE
@click.option("--count", "-n", type=Count(most=1_000_000), default=100, show_default=True, metavar="N", help="Write at most N programs.")
@click.option("--record", is_flag=True, help="Also add the programs to the workspace, as instances of the policy's language.")
@common
def mutate(
    model: Path, file: Path, policy: str, language: str | None, count: int, record: bool, workspace: Path, seed: int, as_json: bool
) -> int:
    """Write programs to FILE that differ from MODEL in one expression.

    MODEL is an ONNX model, a Relax module that `tvm.ir.save_json` wrote, or a file of `program/1` documents. Another expression of the same
    type takes the place of one; the types and the limits of the policy hold. Nodes that no program can hold are named and left out, and
    their results become inputs.
    """
    chosen = policy_named(policy, language)
    found_in = programs_in(model, chosen.language)
    given = found_in.programs
    for each in found_in.opaque:
        say(f"left out: {one_line(each, 200)}")
    generator = ProgramGenerator(chosen, drawn_from(chosen))
    made: dict[bytes, None] = {}
    for number in range(_ATTEMPTS * count if given else 0):
        if len(made) == count:
            break
        found = generator.mutate(given[number % len(given)], seed + number)
        if found is not None:
            made[json.dumps(encode(found), separators=(",", ":")).encode() + b"\n"] = None
    if not made:
        raise NothingSelected(f"no program could be made of {one_line(str(model))}: no expression of it can be replaced")
    try:
        with output(file) as written:
            written.writelines(made)
    except OSError as error:
        raise UserError(f"{one_line(str(file))} cannot be written: {error.strerror or error}") from error
    added = recorded(file, chosen.language, workspace) if record else None
    if as_json:
        more = {} if added is None else {"new_instances": added}
        counts = {"given": len(given), "programs": len(made), "opaque": found_in.opaque}
        print_json({"schema": MUTATE_SCHEMA, "file": str(file), **counts, **more})
        return Exit.CLEAN
    say(f"{plural(len(made), 'program')} in {one_line(str(file))}, from {plural(len(given), 'program')}")
    if added is not None:
        say(f"{plural(added, 'new instance')} of {chosen.language} in the workspace, from source {SOURCE}")
    return Exit.CLEAN


@command.command("seeds")
@click.argument("file", metavar="FILE", type=OutputFile())
@click.option(
    "--model",
    "models",
    multiple=True,
    metavar="FILE|FOLDER",
    type=click.Path(path_type=Path, exists=True),
    help="Read these models in place of the recorded instances.",
)
@common
def seeds(file: Path, models: tuple[Path, ...], workspace: Path, seed: int, as_json: bool) -> int:
    """Write recorded instances or models to FILE as programs.

    A policy with `insert = "FILE"` inserts them into other programs where their types fit. Models are ONNX files, and Relax modules that
    `tvm.ir.save_json` wrote. Instances with an operator that programs do not have are counted, and left out; such a part of a model
    becomes an input.
    """
    given = "model" if models else "recorded instance"
    read = [each for _, each in models_in(models)] if models else _recorded_instances(workspace, seed)
    found: dict[str, Program] = {}
    readable = 0
    for each in read:
        with suppress(ValueError):
            program = decode(each.document).program
            InsertedBlock(program)
            found.setdefault(json.dumps(each.document, separators=(",", ":")), program)
            readable += 1
    if models and not read:
        raise NothingSelected(f"no file in {one_line(', '.join(map(str, models)), 200)} ends in {' or '.join(READERS)}")
    if not found:
        more = "" if models else "; record more: opera extract --lib onnx"
        raise NothingSelected(f"none of {plural(len(read), given)} can be read as a program{more}")
    beyond = sum(any(beyond_solvers(program, call) for call in calls(program)) for program in found.values())
    with output(file) as written:
        written.writelines(f"{line}\n".encode() for line in found)
    if as_json:
        counts = {"given": len(read), "read": readable, "programs": len(found), "beyond": beyond}
        print_json({"schema": SEEDS_SCHEMA, "file": str(file), **counts})
        return Exit.CLEAN
    say(
        f"{plural(len(found), 'distinct program')} in {one_line(str(file))}, from {readable:,} of {plural(len(read), given)}"
        f"; no solver draws {beyond:,} of them"
    )
    return Exit.CLEAN


def _recorded_instances(workspace: Path, seed: int) -> list[ReadModel]:
    with open_workspace(workspace, write=False) as space, working_folder("seeds", space.scratch) as scratch:
        given = scratch / "instances.jsonl"
        exported = export(space, Selection(ONNX, outcome=None), seed, str(given))
        read = read_by(INSTANCES, [str(given)])
    left = exported["instances"] - len(read)
    if left:
        say(f"{plural(left, 'recorded instance')} not read: the reader died, or took more than a minute")
    return read


def _document(file: Path, count: int, seconds: float, counts: BatchCounts, added: int | None) -> dict[str, object]:
    return {
        "schema": SCHEMA,
        "file": str(file),
        "programs": count,
        "generated": counts.programs,
        "seconds": round(seconds, 3),
        "operators": dict(counts.operators.most_common()),
        "parameters": len(counts.parameters),
        "pairs": len(counts.pairs),
        "covered": counts.covered,
        "asked": dict(counts.asked.most_common()),
        "inserted": counts.asked[INSERTED] - counts.retried[INSERTED],
        "retried": dict(counts.retried.most_common()),
        "known": dict(counts.known.most_common()),
        "broken": counts.broken,
        **({} if added is None else {"new_instances": added}),
    }
