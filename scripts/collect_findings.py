"""Adds the findings of a workspace to `data/findings`: those whose script reproduces.

python scripts/collect_findings.py --workspace W [--compiler tvm] [--frontend onnx] [--output data/findings] [--whole ID] [--renew]

Run `opera triage --workspace W` first, so that the scripts show reduced instances. A row of this name is left alone: what a person has
written into it stays. Where `data/labelled/causes.jsonl` knows the failing test, only bugs are added, one of each cause.
With `--whole` the script of a finding shows the failing test as it ran: for those whose reduced instance turned out to be no valid model.
With `--renew` the row of a known cause gets today's trigger, witnesses and script if its own trigger names no condition.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import msgspec

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))

from labelled import Judgement, judgements
from recorded_findings import FOLDER, Finding, Status, Table, table_of, tables, write

from opera.triage.reduction.trigger import ALWAYS

KEYS = ("id", "route", "operators", "verdict", "stage", "converter", "trigger")
OUTCOMES = ("written", "renewed", "there", "not reproduced", "too long", "no bug", "same cause")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workspace", required=True)
    parser.add_argument("--compiler")
    parser.add_argument("--frontend")
    parser.add_argument("--output", type=Path, default=FOLDER)
    parser.add_argument("--most-lines", type=int, default=40, help="scripts that are longer are left out")
    parser.add_argument("--whole", metavar="ID", action="append", default=[], help="finding whose script is not of the reduced instance")
    parser.add_argument("--renew", action="store_true", help="renew rows whose trigger names no condition")
    arguments = parser.parse_args()
    scope = [part for name in ("compiler", "frontend") if (value := getattr(arguments, name)) for part in (f"--{name}", value)]
    report = opera("report", *scope, workspace=arguments.workspace)
    known = {key: each for each in judgements() for key in each.keys}
    counts: dict[str, int] = dict.fromkeys(OUTCOMES, 0)
    for finding in report["findings"]:
        shown = opera("show", finding["representative"], workspace=arguments.workspace)
        label = known.get((f"{finding['compiler']}/{finding['frontend']}", shown["instance"][:16], shown["form"]))
        shows = finding["representative"] if finding["id"].startswith(tuple(arguments.whole)) else finding["id"]
        counts[collect(finding, shows, label, arguments)] += 1
    print(", ".join(f"{count} {what}" for what, count in counts.items()))


def collect(finding: dict[str, Any], shows: str, label: Judgement | None, options: argparse.Namespace) -> str:
    """Writes one finding with the script of *shows*, a finding or a test; says what became of it."""
    if label is not None and label.label != "bug":
        return "no bug"
    there = None if label is None else row_of(label.cause, options.output)
    if there is not None and not (options.renew and names_no_condition(there[1])):
        return "same cause"
    table = there[0] if there else table_of(finding["compiler"], finding["frontend"], options.output)
    converter = re.sub(r"[^a-z0-9]+", "-", str(finding["converter"] or finding["operators"][0]).lower()).strip("-")[:40].strip("-")
    name = there[1].name if there else f"{converter}-{finding['id'][:8]}"
    if there is None and any(each.name == name for each in table.findings):
        return "there"
    with tempfile.TemporaryDirectory() as scratch:
        made = Path(scratch, "reproducer.py")
        try:
            outcome = opera("reproduce", shows, "--output", str(made), workspace=options.workspace, codes=(0, 1))
        except subprocess.CalledProcessError:
            return "not reproduced"
        if not outcome["reproduced"]:
            return "not reproduced"
        text = made.read_text(encoding="utf-8")
    if len(text.splitlines()) > options.most_lines:
        return "too long"
    seen = text.partition("Seen with ")[2].partition(".\n")[0].replace("\n", " ")
    row = {"name": name, **{key: finding.get(key) for key in KEYS}, **witnesses(finding, options.workspace)}
    row.update(summary=actual_of(text), seen_with=seen, status=Status.REPRODUCED if label is None else Status.VERIFIED)
    if there is not None:
        row.update(id=there[1].id, operators=there[1].operators)
    if label is not None:
        row.update(cause=label.cause, why=label.reason)
    written = msgspec.convert(row, Finding)
    table.put(written)
    script = table.script(written, options.output)
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_text(text, encoding="utf-8")
    write(table, options.output)
    return "written" if there is None else "renewed"


def actual_of(script: str) -> str:
    """What the head of a script says happened: of the reduced instance, where there is one."""
    head = ast.get_docstring(ast.parse(script)) or ""
    return head.partition("\nActual: ")[2].partition("\n")[0]


def row_of(cause: str, output: Path) -> tuple[Table, Finding] | None:
    """The row that shows *cause*, with its table."""
    return next(((table, each) for table in tables(output) for each in table.findings if each.cause == cause), None)


def names_no_condition(finding: Finding) -> bool:
    """Whether the trigger of a row is missing, or is `any call`."""
    return finding.trigger in (None, ALWAYS)


def witnesses(finding: dict[str, Any], workspace: str) -> dict[str, Any]:
    """What shows the trigger: for each property a call without it, which passes, and other calls with the trigger, which fail."""
    reduction = opera("show", finding["id"], workspace=workspace)["reduction"]
    if finding["trigger"] is None or reduction is None:
        return {}
    failing = [opera("show", test, workspace=workspace)["call"] for test in reduction.get("fails", ())]
    return {"passes": reduction.get("passes", {}), "fails": [" ".join(call.split()) for call in failing]}


def opera(*arguments: str, workspace: str, codes: tuple[int, ...] = (0,)) -> dict[str, Any]:
    """The JSON document that a command prints."""
    command = [sys.executable, "-m", "opera", *arguments, "--workspace", workspace, "--json"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode not in codes:
        raise subprocess.CalledProcessError(run.returncode, command, run.stdout, run.stderr)
    return json.loads(run.stdout)


if __name__ == "__main__":
    main()
