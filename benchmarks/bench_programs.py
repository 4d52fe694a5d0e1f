"""Measures how fast programs are generated and printed, how many a language accepts, and how different they are.

python benchmarks/bench_programs.py [--language onnx|relax] [--count 300]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

from opera.extensions.programs.batch import pairs_in
from opera.extensions.programs.generate import ProgramGenerator
from opera.extensions.programs.languages import languages, operators_in
from opera.extensions.programs.policy import Policy
from opera.extensions.programs.program import Program, calls


def onnx_steps() -> dict[str, Callable[[Any], Any]]:
    import onnx

    from opera.extensions.programs.templates.onnx import model_of

    return {
        "construct": model_of,
        "check": lambda model: (onnx.checker.check_model(model), model)[1],
        "infer": lambda model: onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True, data_prop=True),
    }


def relax_steps() -> dict[str, Callable[[Any], Any]]:
    from tvm import relax

    from opera.extensions.programs.templates.relax import module_of

    return {
        "construct": module_of,
        "well_formed": lambda module: (relax.analysis.well_formed(module), module)[1],
        "legalise": lambda module: relax.transform.LegalizeOps()(module),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--language", choices=languages(), default="onnx")
    parser.add_argument("--count", type=int, default=300)
    arguments = parser.parse_args()
    generator = ProgramGenerator(Policy(language=arguments.language), operators_in(arguments.language))
    began = time.process_time()
    left: list[Program] = [generator.generate(seed).program for seed in range(arguments.count)]
    tell("generate", time.process_time() - began, arguments.count, arguments.count)
    made = [call for program in left for call in calls(program)]
    settings = {(call.operator, tuple(sorted(call.attributes.items()))) for call in made}
    pairs = {pair for program in left for pair in pairs_in(program)}
    print(f"{len({call.operator for call in made})} operators, {len(settings):,} with their parameters, {len(pairs):,} adjacent pairs")
    values: list[Any] = list(left)
    for name, step in (onnx_steps() if arguments.language == "onnx" else relax_steps()).items():
        began, kept = time.process_time(), []
        for value in values:
            try:
                kept.append(step(value))
            except Exception as error:
                print(f"  {name}: {str(error).strip().splitlines()[-1][:120]}")
        tell(name, time.process_time() - began, len(values), len(kept))
        values = kept


def tell(step: str, seconds: float, number: int, passed: int) -> None:
    print(f"{step:12} {number / seconds:8,.0f}/s  {passed:,} of {number:,}")


if __name__ == "__main__":
    main()
