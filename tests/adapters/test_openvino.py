"""What OpenVINO's adapter has to know of its frontends: inputs that they prune, and the words with which they decline."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from instances import counting, torch_call

from opera.instance import Instance, Occurrence
from opera.store import Campaigns, Corpus
from opera.store.database import open_workspace


def verdicts(workspace: Path, *instances: Instance) -> dict[str, tuple[str, str | None]]:
    """Verdict and reason by name of the operator."""
    with open_workspace(workspace, write=True) as space:
        Corpus(space).add((each, Occurrence("hand", "test")) for each in instances)
    command = [
        sys.executable,
        "-m",
        "opera",
        "run",
        "--compiler",
        "openvino",
        "--frontend",
        "pytorch",
        "--workspace",
        str(workspace),
        "--json",
    ]
    run = subprocess.run([*command, "--exit-zero", "-q", "-j", "2"], capture_output=True, text=True, check=False, timeout=300)
    assert run.returncode == 0, run.stderr[-3000:]
    assert json.loads(run.stdout)["executed"] == len(instances)
    with open_workspace(workspace, write=False) as space:
        corpus = Corpus(space)
        return {corpus.get(each.instance).operator: (each.verdict.value, each.reason) for each in Campaigns(space).results()}


def test_inputs_are_fed_by_name_where_the_frontend_prunes_one(tmp_path: Path) -> None:
    """With `beta=0` the first input of `addr` is not used: the others must not take its place or its shape."""
    assert verdicts(tmp_path, torch_call("torch.addr", counting(2, 3), counting(2), counting(3), beta=0)) == {"addr": ("pass", None)}


def test_a_clear_refusal_is_no_crash(tmp_path: Path) -> None:
    found = verdicts(
        tmp_path,
        torch_call("torch.var", counting(3, 4), dim=0, correction=2),
        torch_call("torch.mean", counting(3, 4), dim=0),
        torch_call("torch.view_as_complex", counting(3, 2)),
    )
    assert found == {"var": ("unsupported", "declined"), "mean": ("pass", None), "view_as_complex": ("unsupported", "dtype")}


def test_an_internal_type_is_no_converter(tmp_path: Path) -> None:
    """A message that names only what OpenVINO puts between its nodes names the PyTorch function that this came from elsewhere."""
    norm = torch_call("torch.native_layer_norm", counting(2, 3), normalized_shape=(3,), weight=None, bias=counting(3), eps=1e-5)
    assert verdicts(tmp_path, norm)["native_layer_norm"][0] == "crash"
    with open_workspace(tmp_path, write=False) as space:
        (result,) = Campaigns(space).results()
    assert result.converter == "native_layer_norm.default"
