"""The page for authors of passes: its policy, its oracle and its commands work as it says."""

from __future__ import annotations

import json
import re
from pathlib import Path

import commands
import pytest

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "test-a-pass.md"


@pytest.mark.slow
def test_an_author_gets_a_small_script_from_a_policy_and_an_oracle(tmp_path: Path) -> None:
    text = PAGE.read_text(encoding="utf-8")
    policy, oracle, project = re.findall(r"```(?:toml|python)\n(.*?)```", text, re.DOTALL)
    entry = re.search(r"my-pass = \"(.*)\"", project)
    assert entry is not None
    package = tmp_path / "package"
    metadata = package / "my_pass-0.1.dist-info"
    metadata.mkdir(parents=True)
    (package / "my_pass.py").write_text(oracle)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: my_pass\nVersion: 0.1\n")
    (metadata / "entry_points.txt").write_text(f"[opera.compilers]\nmy-pass = {entry[1]}\n")
    (tmp_path / "pass.toml").write_text(policy.replace('"conv2d", "add", "multiply", "relu", ', ""))

    def opera(*arguments: str) -> commands.Outcome:
        return commands.run(*arguments, folder=tmp_path, variables={"PYTHONPATH": str(package)})

    run = opera("fuzz", "run", "--policy", "pass.toml", "-n", "6", "--subject", "my-pass", "-j", "1", "--json")
    assert run.returncode == 1, run.stderr
    (found,) = [each for each in json.loads(run.stdout)["findings"] if each["trigger"] == "calls equal(bool, bool)"]
    again = opera("reproduce", found["id"], "-o", "found.py", "--json")
    assert json.loads(again.stdout)["reproduced"], again.stderr
    script = (tmp_path / "found.py").read_text()
    assert (script.count("relax.op."), "your pass" in script, len(script.splitlines()) < 40) == (1, True, True)
