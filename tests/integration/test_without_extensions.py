"""The core works with any extension removed: its unit tests pass without that folder, and every command says its help."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from third_party import install

ROOT = Path(__file__).parents[2]
STANDS_ON = {"models": {"suites"}, "programs": {"research", "stablehlo"}, "stablehlo": {"suites"}, "versions": {"environments", "findings"}}
"""The extensions that an extension imports, as `tests/unit/test_layers.py` has them."""
EXTENSIONS = sorted(path.name for path in (ROOT / "opera" / "extensions").iterdir() if (path / "__init__.py").is_file())
WHOLE = (
    "test_command_line_page.py",
    "test_site_pages.py",
    "test_site_answers.py",
    "test_pages.py",
    "test_layers.py",
    "test_named_commands.py",
    "test_revisions.py",
    "test_door.py",
    "test_absurd_arguments.py",
)
"""Tests of the repository as a whole: its pages, messages and table of options say what the extensions have."""

NAMES = (
    "test_completion.py::test_names_depend_on_what_stands_before",
    "test_corpus_tools.py::test_records_of_other_tools_come_in_under_their_name_and_what_cannot_be_rebuilt_is_counted",
    "test_models.py::test_an_unknown_library_or_frontend_is_the_users_error",
    "test_recorded_findings.py::test_the_readme_counts_the_findings_of_each_compiler_and_library",
    "test_models.py::test_the_adapters_of_this_package_declare_routes_to_libraries_that_have_templates_and_canaries",
    "test_options_before_commands.py::test_common_options_are_known_without_a_command",
    "test_options_before_commands.py::test_options_of_every_command_are_known_without_one",
)
"""Tests of lists that have the names of extensions: their libraries, commands and formats."""


@pytest.mark.slow
@pytest.mark.parametrize("extension", EXTENSIONS)
def test_the_cores_tests_pass_without(extension: str, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in listed.rstrip("\0").split("\0"):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, tree / name, follow_symlinks=False)
    gone = {extension, *(name for name, others in STANDS_ON.items() if extension in others)}
    for each in gone:
        shutil.rmtree(tree / "opera" / "extensions" / each)
    ignored = [f"--ignore=tests/unit/{name}" for name in (*EXTENSIONS, "several", *WHOLE)]
    ignored += [f"--deselect=tests/unit/{name}" for name in NAMES]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-m", "not slow", "tests/unit", *ignored]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:]


def test_doctor_names_what_is_wrong_with_extensions(tmp_path: Path) -> None:
    install(tmp_path)
    command = [sys.executable, "-m", "opera", "doctor", "--quick", "--compiler", "onnxruntime"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    assert "absent (no_such_module:COMMANDS), of opera.commands, cannot be imported" in done.stdout
    assert "extension twin has a command 'run', as opera has" in done.stdout
