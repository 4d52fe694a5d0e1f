"""The driver never imports a DL library or a compiler."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from importlib.metadata import entry_points
from pathlib import Path

import opera

HEAVY = {
    "torch", "torchvision", "onnx", "onnxscript", "tvm", "openvino", "onnxruntime", "tensorflow", "keras", "jax", "iree", "executorch",
    "tensorrt", "tinygrad", "scipy", "pandas",
}  # fmt: skip
BESIDE_A_LIBRARY = re.compile(
    r"opera\.(templates|instrumentation|extensions\.(models|programs|stablehlo)\.templates|extensions\.opidiff\.companion_text"
    r"|extensions\.findings\.(mending\.torch_program|wide)|extensions\.generators\.(docter|deeprel|settings|hosts|onnx_embedded|onnx_random"
    r"|onnx_settings|embedded\.torch_model|draws\.(torch_model|tensorflow_model|keras_model))|extensions\.keras_backends\.opinion)\b"
)
"""Modules that run in a library's process."""
ROOT = Path(opera.__file__).parent


def modules() -> list[str]:
    """Every module that the driver may import: all but those that run in a library's process, and entry points that act when imported."""
    found = []
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT.parent).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        if "corpora" not in parts and "facts" not in parts:
            found.append(name)
    for package in ("instrumentation", "templates"):
        found += [f"opera.{package}.{path.stem}" for path in sorted((ROOT / package).glob("*.py"))]
    found = sorted(set(found))
    return [name for name in found if not BESIDE_A_LIBRARY.match(name) and not name.endswith("__main__")]


def imported_by(code: str) -> set[str]:
    """Top-level names of what is in sys.modules after *code*, in a process of its own."""
    program = f"{code}\nimport json, sys\nprint(json.dumps(sorted({{name.partition('.')[0] for name in sys.modules}})))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout))


def test_no_module_of_the_driver_imports_a_library_or_a_compiler_adapters_included() -> None:
    names = modules()
    assert {"opera.cli", "opera.run", "opera.compilers.tvm", "opera.compilers.openvino", "opera.workers.pool"} <= set(names)
    assert imported_by("import " + ", ".join(names)) & HEAVY == set()


def test_help_of_every_command_imports_neither_numpy_nor_anything_heavy() -> None:
    assert imported_by("import opera.cli") & (HEAVY | {"numpy", "rich"}) == set()


def test_the_childs_half_of_a_worker_needs_the_standard_library_only() -> None:
    before = imported_by("")
    added = imported_by("import opera.workers.child, opera.workers.guardian") - before
    assert {name for name in added if name not in sys.stdlib_module_names} == {"opera"}


IN_AN_ENVIRONMENT_OF_ITS_OWN = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if top not in {present} and top not in sys.stdlib_module_names:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Absent())
"""


def test_the_process_of_a_compiler_needs_what_a_separate_environment_has() -> None:
    present = {"opera", *tomllib.loads((ROOT / "environments/environments.toml").read_text(encoding="utf-8"))["worker"]}
    adapters = sorted(each.value.partition(":")[0] for each in entry_points(group="opera.compilers") if each.value.startswith("opera."))
    assert "opera.extensions.stablehlo.compilers.tvm" in adapters
    names = ["opera.workers.child", "opera.difftest.model_worker", "opera.difftest.compiler_worker", *adapters]
    assert "numpy" in imported_by(IN_AN_ENVIRONMENT_OF_ITS_OWN.format(present=present) + "import " + ", ".join(names))


def test_this_check_would_notice() -> None:
    assert "torch" in imported_by("import opera.templates.pytorch.model") & HEAVY


def test_prioritisation_imports_no_library_and_no_compiler() -> None:
    script = "import sys, opera.prioritize; print([n for n in ('torch', 'onnx', 'tvm', 'keras', 'openvino') if n in sys.modules])"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout == "[]\n"
