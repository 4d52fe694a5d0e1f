"""Reads the ONNX instances of a corpus file as programs: `python -m opera.extensions.programs.templates.seeds CORPUS PROGRAMS`."""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from typing import Any

from opera.extensions.programs.document import encode_program
from opera.extensions.programs.inserted import InsertedBlock
from opera.extensions.programs.program import Program, calls
from opera.extensions.programs.reading import Opaque
from opera.extensions.programs.seeds import beyond_solvers
from opera.extensions.programs.templates.from_onnx import onnx, program_from
from opera.instance import Instance, decode_instance
from opera.models.forms import InputForm
from opera.models.template import Invalid
from opera.templates.onnx.model import OnnxModel, OnnxTemplate


def program_of(instance: Instance) -> Program | None:
    """The program of *instance*, its shape-like inputs being constants; None where it holds something else, or cannot be inserted."""
    try:
        model = OnnxTemplate().build(instance, "seeds", 0)
        if not isinstance(model, OnnxModel):
            return None
        proto: Any = onnx.load_model_from_string(model.artefact("onnx", InputForm.BAKED.value).data)
        reading = program_from(proto)
        if reading.opaque:
            return None
        InsertedBlock(reading.program)
    except (Invalid, Opaque, ValueError):
        return None
    return reading.program


def main() -> None:
    """Writes the distinct programs, and prints how many instances there were, and how many could be read."""
    warnings.simplefilter("ignore")
    instances = read = beyond = 0
    found: dict[str, None] = {}
    for line in Path(sys.argv[1]).read_bytes().splitlines()[1:]:
        instances += 1
        program = program_of(decode_instance(json.loads(line)["instance"]))
        if program is None:
            continue
        read += 1
        text = json.dumps({**encode_program(program), "inputs": []}, separators=(",", ":"))
        if text not in found:
            found[text] = None
            beyond += any(beyond_solvers(program, call) for call in calls(program))
    Path(sys.argv[2]).write_text("".join(f"{each}\n" for each in found), encoding="utf-8")
    print(json.dumps({"instances": instances, "read": read, "programs": len(found), "beyond": beyond}))


if __name__ == "__main__":
    main()
