"""The figures of docs/reference/prioritisation.md, from the recorded campaigns.

python scripts/prioritisation_table.py             prints them
python scripts/prioritisation_table.py --write     puts them into the page, between its two marks

Several minutes on two processes; run it after each new recording of a campaign and each change of a strategy.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from opera.extensions.research.artifact import read_artifact
from opera.extensions.research.compare import Figures, available, evaluate
from opera.extensions.research.recording import RecordedRun, history_of, read_recorded

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "reference" / "prioritisation.md"
BEGIN, END = "<!-- scripts/prioritisation_table.py: begin -->\n", "<!-- end -->\n"
PAPER = "the paper's TVM x ONNX"
NAMES = ("tvm-onnx", "openvino-onnx", "onnxruntime-onnx", "iree-onnx", "tvm-pytorch", "openvino-pytorch", "onnxruntime-pytorch")
HEADINGS = {
    "opera": "opera", "opera-adaptive": "adaptive", "opera-artifact": "artifact", "opera-paper": "paper", "parameter-only": "parameter",
    "operator-only": "operator", "additional": "additional", "total": "total", "fast": "fast", "round-robin": "round-robin",
    "random": "random",
}  # fmt: skip
SD = ("opera", "opera-adaptive", "random")
AFTER = ("opera", "opera-adaptive")


def main() -> None:
    """Prints the section, or writes it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write into the page")
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    text = "".join(f"{line}\n" for line in section(campaigns(), arguments.seeds, arguments.jobs))
    if arguments.write:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}{text}{END}{rest.partition(END)[2]}", encoding="utf-8")
    else:
        print(text, end="")


def campaigns() -> dict[str, RecordedRun]:
    """What is evaluated, by name."""
    folder = ROOT / "data" / "campaigns"
    return {
        PAPER: read_artifact(ROOT / "data" / "published", "tvm-onnx"),
        **{name: read_recorded(folder / f"{name}.jsonl.gz") for name in NAMES},
    }


def section(recorded: dict[str, RecordedRun], seeds: int, jobs: int) -> Iterator[str]:
    """The lines between the marks."""
    yield f"| mean APFD over {seeds} seeds | findings | {' | '.join(HEADINGS.values())} |"
    yield f"|---|---|{'---|' * len(HEADINGS)}"
    found = {name: evaluate(each, available(each), seeds, jobs=jobs) for name, each in recorded.items()}
    for name, each in found.items():
        cells = " | ".join(short(each[strategy].apfd.mean) if strategy in each else "" for strategy in HEADINGS)
        yield f"| {name if name == PAPER else f'`{name}`'} | {len(recorded[name].faults)} | {cells} |"
    yield ""
    after = " | ".join(f"{HEADINGS[name]}, with history" for name in AFTER)
    yield f"| | {' | '.join(f'{HEADINGS[name]}: sd over seeds' for name in SD)} | {after} | history |"
    yield f"|---|{'---|' * (len(SD) + len(AFTER) + 1)}"
    for name, each in found.items():
        others = alike(name)
        history = evaluate(recorded[name], AFTER, seeds, history_of(recorded[other] for other in others), jobs) if others else {}
        after = " | ".join([*(short(history[each].apfd.mean) if history else "" for each in AFTER), listed(others)])
        yield f"| {name if name == PAPER else f'`{name}`'} | {spreads(each)} | {after} |"


def alike(name: str) -> list[str]:
    """The other campaigns with the same frontend as *name*."""
    frontend = name.partition("-")[2]
    return [other for other in NAMES if name in NAMES and other != name and other.partition("-")[2] == frontend]


def listed(names: list[str]) -> str:
    """*names* as code, with commas between."""
    return ", ".join(f"`{name}`" for name in names)


def spreads(found: dict[str, Figures]) -> str:
    """Cells with the standard deviations."""
    return " | ".join(short(found[name].apfd.sd) for name in SD)


def short(value: float) -> str:
    """A share with three decimals, e.g. `.893`."""
    return f"{value:.3f}".removeprefix("0")


if __name__ == "__main__":
    main()
