"""A benchmark for repair: one task for each change that mends recorded findings, with hidden calls that the repair has to get right.

python scripts/repair_benchmark.py export DIR [--subject tvm-pytorch ...] [-k WORD]
python scripts/repair_benchmark.py score DIR --python PYTHON

`export` runs the calls of each row (`fails`, `passes`) on the compilers of this environment, and keeps those that behave as the row says.
`score` runs scripts and calls with the interpreter of a repaired compiler: a task is mended if every script ends without a failure and
every call gives the library's result.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from recorded_findings import FOLDER, Finding, Table, tables, title_of

from opera.extensions.findings.families import families

CALLS = Path(__file__).parents[1] / "benchmarks" / "repair_calls.py"
SUBJECTS = ("tvm-pytorch", "tvm-onnx", "openvino-pytorch", "openvino-onnx", "onnxruntime-onnx", "torch.onnx-pytorch", "inductor-pytorch")
_SECONDS = 300.0
_UNTIL = re.compile(r";(?![^(\[]*[)\]])")


@dataclass(frozen=True)
class HiddenCall:
    """A call, how the compiler gets it, and whether it has to fail before a repair."""

    subject: str
    route: str
    call: str
    fails: bool


def calls_of(table: Table, row: Finding) -> Iterator[HiddenCall]:
    """The calls of *row*, as they are written."""
    for call in row.fails:
        yield HiddenCall(table.subject, row.route, call, True)
    for text in row.passes.values():
        for call in _UNTIL.split(text):
            yield HiddenCall(table.subject, row.route, call.strip(), False)


def outcomes(task: Path, python: str, *more: str) -> list[tuple[str, str]]:
    """The outcome of each call of *task*, and why; a call that ends the process `ends`, and one without an end is `late`."""
    count = len(json.loads(task.read_text(encoding="utf-8"))["calls"])
    found = [("", "")] * count
    after = -1
    while after < count - 1:
        command = [python, str(CALLS), str(task), "--after", str(after), *more]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_SECONDS)
            output, word = done.stdout, "ends"
        except subprocess.TimeoutExpired as error:
            output, word = (error.stdout or b"").decode() if isinstance(error.stdout, bytes) else str(error.stdout or ""), "late"
        begun = after
        for line in output.splitlines():
            entry: dict[str, Any] = json.loads(line) if line.startswith("{") else {}
            if "begins" in entry:
                begun = int(entry["begins"])
            elif "number" in entry:
                after = int(entry["number"])
                found[after] = (str(entry["outcome"]), str(entry["why"]))
        if begun <= after:
            break
        found[begun], after = (word, "the process" if word == "ends" else "the time"), begun
    return found


def export(folder: Path, subjects: list[str], keyword: str) -> None:
    """Writes a file for each fix."""
    known = families(FOLDER)
    rows: dict[str, list[tuple[Table, Finding]]] = {}
    for table in (each for each in tables() if each.subject in subjects):
        for row in table.findings:
            if keyword in row.name:
                rows.setdefault(known.fix(row), []).append((table, row))
    folder.mkdir(parents=True, exist_ok=True)
    total: Counter[str] = Counter()
    for number, (name, found) in enumerate(sorted(rows.items()), 1):
        path = folder / f"{name}.json"
        if path.exists():
            continue
        fix = known.fixes.get(found[0][1].cause or "")
        calls = list(dict.fromkeys(call for table, row in found for call in calls_of(table, row)))
        task = {
            "fix": name,
            "issue": known.issue(found[0][1]),
            "title": fix.title if fix is not None else title_of(found[0][0].script(found[0][1]).read_text(encoding="utf-8")),
            "place": fix.place if fix is not None else "",
            "seen_with": sorted({row.seen_with for _, row in found}),
            "scripts": {f"{table.subject}/{row.name}.py": table.script(row).read_text(encoding="utf-8") for table, row in found},
            "calls": [asdict(call) for call in calls],
        }
        draft = folder / f".{name}.draft"
        draft.write_text(json.dumps(task), encoding="utf-8")
        results = outcomes(draft, sys.executable)
        draft.unlink()
        kept = [
            call for call, (word, _) in zip(calls, results, strict=True) if word not in ("", "left out") and (word == "right") != call.fails
        ]
        for call, (word, why) in zip(calls, results, strict=True):
            kind = "left out" if word in ("", "left out") else "as said" if (word == "right") != call.fails else "otherwise"
            total[f"{'fails' if call.fails else 'passes'}: {kind}"] += 1
            if kind == "otherwise":
                print(f"{name}: {call.subject}: {'fails' if call.fails else 'passes'}, but {word} {why}: {call.call[:140]}", flush=True)
        task["calls"] = [asdict(call) for call in kept]
        path.write_text(json.dumps(task, indent=1) + "\n", encoding="utf-8")
        print(f"{number} of {len(rows)}: {name}: {len(kept)} of {len(calls)} calls", file=sys.stderr, flush=True)
    print(dict(sorted(total.items())))


def score(folder: Path, python: str, cheat: str | None) -> None:
    """Prints which tasks are mended."""
    mended = 0
    tasks = sorted(folder.glob("*.json"))
    for path in tasks:
        task: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        results = outcomes(path, python, *([] if cheat is None else ["--cheat", cheat]))
        wrong = [call["call"] for call, (word, _) in zip(task["calls"], results, strict=True) if word != "right"]
        failing = [] if cheat is not None else [name for name, text in task["scripts"].items() if not _ends_well(text, python)]
        done = not wrong and not failing and bool(task["calls"])
        mended += done
        print(
            f"{path.stem}: {'mended' if done else f'{len(failing)} scripts fail, {len(wrong)} of {len(results)} calls are not right'}",
            flush=True,
        )
    print(f"{mended} of {len(tasks)} tasks mended")


def _ends_well(script: str, python: str) -> bool:
    try:
        return subprocess.run([python, "-c", script], capture_output=True, check=False, timeout=_SECONDS).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("export", "score"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--subject", action="append", choices=SUBJECTS)
    parser.add_argument("-k", dest="keyword", default="")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--cheat", choices=("zeros", "wide"), help="score what a trivial repair would give")
    options = parser.parse_args()
    if options.command == "export":
        export(options.folder, options.subject or list(SUBJECTS), options.keyword)
    else:
        score(options.folder, options.python, options.cheat)


if __name__ == "__main__":
    main()
