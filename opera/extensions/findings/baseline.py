"""The baseline of an issue about wrong numbers: PyTorch's result in double precision, and how far both results are from it.

PyTorch's maintainers ask for it: a compiled result that is no further from it than PyTorch's own is no bug of the compiler.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from opera.config import Config
from opera.report.reproducer import run_script
from opera.report.words import code, inline
from opera.untrusted import from_json
from opera.workers.supervision import working_folder

_MARK = "BASELINE "
_DOUBT = "The compiled call is as near to the result in double precision as PyTorch. Find the reason before you report this."
_WIDE = Path(__file__).parent / "wide.py"


@dataclass(frozen=True)
class Baseline:
    """What is known of a wrong result in double precision.

    Attributes:
        text: Sentences for an issue; empty where no numbers with fractions are wrong, or the script did not run.
        doubt: Why the failure may be none; empty where the compiled result is further from it than PyTorch's own.
    """

    text: str = ""
    doubt: str = ""


NO_BASELINE = Baseline()


def baseline(script: str, compiler: str, config: Config) -> Baseline:
    """The baseline of *script*, which runs again for it in the environment of *compiler*.

    Raises:
        EnvironmentBroken: the interpreter of *compiler* cannot run.
    """
    with working_folder("reproduce") as folder:
        beside = folder / "baseline.py"
        beside.write_text(f"{_WIDE.read_text(encoding='utf-8')}\n\nmain({script!r})\n", encoding="utf-8")
        _, output = run_script(beside, config, compiler)
    line = next((line for line in output.splitlines() if line.startswith(_MARK)), None)
    return NO_BASELINE if line is None else told(from_json(line.removeprefix(_MARK), dict[str, str]))


def told(said: dict[str, str]) -> Baseline:
    """What the program beside the script *said*, for an issue."""
    if "problem" in said:
        return Baseline(f"There is no result in double precision: {inline(said['problem'])}.")
    exact, eager, compiled = (code(said[name]) for name in ("exact", "eager", "compiled"))
    off, own = said["compiled_error"], said["eager_error"]
    text = (
        f"In double precision, the element that is furthest off is {exact}; PyTorch gives {eager}, and the compiled call {compiled}."
        f" The greatest error of PyTorch is {code(own)}, that of the compiled call {code(off)}."
    )
    return Baseline(text, _DOUBT if float(off) <= float(own) else "")
