"""Reads the ONNX instances of a corpus file as programs: `python -m opera.extensions.programs.templates.seeds LINES CORPUS`."""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from typing import Any

from opera.extensions.programs.reading import Opaque, Reading, write_readings
from opera.extensions.programs.templates.from_onnx import onnx, program_from
from opera.instance import decode_instance
from opera.models.forms import InputForm
from opera.templates.onnx.model import OnnxModel, OnnxTemplate


def reading_of(line: str) -> Reading:
    """The program of an instance, its shape-like inputs being constants.

    Raises:
        Opaque: it holds something else.
        Invalid: it is no model.
    """
    model = OnnxTemplate().build(decode_instance(json.loads(line)["instance"]), "seeds", 0)
    if not isinstance(model, OnnxModel):
        raise Opaque("another kind of instance")
    proto: Any = onnx.load_model_from_string(model.artefact("onnx", InputForm.BAKED.value).data)
    reading = program_from(proto)
    if reading.opaque:
        raise Opaque(reading.opaque[0])
    return reading


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    write_readings(reading_of, Path(sys.argv[2]).read_text(encoding="utf-8").splitlines()[1:])
