"""What the source `settings` promises for PyTorch and Keras, with the real libraries in real hosts."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from fake.corpora import fill, held, runner

from opera.extract.description import INSTRUMENTATION, SourceDescription
from opera.extract.shards import SourceShard
from opera.extract.source import Request
from opera.instance import Argument, Instance, Kind, Outcome, Tensor, decode_instance, encode_instance


@dataclass
class Run:
    lines: list[Any]
    log: str

    def made(self, api: str) -> dict[str, Instance]:
        """The recorded instances of an API by their setting."""
        found: dict[str, Instance] = {}
        for line in self.lines:
            if line.get("instance", {}).get("api") == api:
                found[line["test"].split("::", 3)[3]] = decode_instance(line["instance"])
        return found

    def tried(self, api: str) -> list[str]:
        names = [line["name"].split("::", 2) for line in self.lines if "entry" in line]
        return [name[2] for name in names if name[0] == api and len(name) == 3]

    def dropped(self, api: str) -> dict[str, int]:
        return {line["dropped"]: line["calls"] for line in self.lines if line.get("api") == api}


def torch_call(api: str, *arguments: Argument, kind: Kind = Kind.FUNCTION, **more: Any) -> Instance:
    return Instance("pytorch", api, kind, call=arguments, outcome=Outcome.RETURNED, **more)


def of_torch() -> list[Instance]:
    image = Argument("input", Tensor((2, 4, 6), "float32"))
    built = (Argument("in_channels", 4), Argument("out_channels", 2), Argument("kernel_size", 3))
    return [
        torch_call("torch.sum", Argument("input", Tensor((2, 3), "float32")), Argument("dim", 0)),
        torch_call("torch.add", Argument("input", Tensor((2, 3), "float32")), Argument("other", Tensor((3,), "float32"))),
        torch_call("torch.nn.Conv1d", image, kind=Kind.MODULE, init=built, context=(("training", False),)),
        torch_call("torch.nn.functional.interpolate", image, Argument("size", 3), Argument("mode", "nearest", True)),
        torch_call("torch.no_such_operator", image),
        torch_call("torch.matmul", image, Argument("other", Tensor((7, 2), "float32"))),
    ]


def written(path: Path, instances: list[Instance]) -> Path:
    lines = [json.dumps({"id": str(number), "instance": encode_instance(each)}) for number, each in enumerate(instances)]
    path.write_text("\n".join(lines) + "\n")
    return path


def host(folder: Path, *arguments: str, name: str = "recording") -> Run:
    path = folder / f"{name}.jsonl"
    command = [
        sys.executable,
        str(INSTRUMENTATION / "__main__.py"),
        "opera.extensions.generators.hosts.settings",
        "--recording",
        str(path),
        *arguments,
    ]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)
    assert done.returncode == 0, done.stderr
    return Run([json.loads(line) for line in path.read_text().splitlines()], done.stdout)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("instances") / "instances.jsonl", of_torch())


@pytest.fixture(scope="module")
def run(file: Path) -> Run:
    return host(file.parent, "--instances", str(file), "--pairs", "10")


# PyTorch


@pytest.mark.slow
def test_schemas_signatures_and_documentation_say_what_there_is(run: Run) -> None:
    found = run.made("torch.sum")
    assert {
        "call keepdim=True",
        "call dtype=float16",
        "call dim=-1",
        "call dim=[]",
        "rank of input=1",
        "size of input=0 in dimension 1",
    } <= set(found)
    assert {argument.name: argument.value for argument in found["call dim=[]"].call}["dim"] == []
    words = run.made("torch.nn.Conv1d")
    assert {"build padding='same'", "build padding_mode='reflect'", "build bias=False", "rank of input=2"} <= set(words)
    assert "call mode='nearest-exact'" in run.made("torch.nn.functional.interpolate")


@pytest.mark.slow
def test_mixtures_of_dtypes_and_python_numbers_are_made(run: Run) -> None:
    found = run.made("torch.add")
    mixed = [argument.value.dtype for argument in found["dtype of other=int8"].call]  # type: ignore[union-attr]
    assert mixed == ["float32", "int8"]
    assert isinstance(found["scalar of other=Python number"].call[1].value, float)
    assert {"call alpha=2", "dtype of inputs=complex64"} <= set(found)


def test_a_module_computes_in_the_dtype_of_its_inputs(run: Run) -> None:
    half = run.made("torch.nn.Conv1d")["dtype of input=float64"]
    assert half.context_value("parameters") is not None


def test_only_calls_that_return_are_recorded_and_others_are_counted(run: Run) -> None:
    found = run.made("torch.nn.functional.interpolate")
    assert all(each.outcome is Outcome.RETURNED for each in found.values())
    assert "call mode='linear'" in found
    assert "call mode='bicubic'" in run.tried("torch.nn.functional.interpolate")
    assert "call mode='bicubic'" not in found, "it takes four dimensions"
    assert run.dropped("torch.nn.functional.interpolate")["not-valid"] > 0


def test_an_operator_of_which_nothing_is_declared_is_counted(run: Run) -> None:
    assert run.dropped("torch.no_such_operator") == {"no-sample:NoSignature": 1}


def test_a_recorded_call_that_fails_today_gets_no_settings(run: Run) -> None:
    assert run.dropped("torch.matmul") == {"no-sample:NotRepeated": 1}
    assert "torch.matmul::0::as recorded: RuntimeError" in run.log


@pytest.mark.slow
def test_the_same_seed_gives_the_same_recording_and_another_seed_other_pairs(run: Run, file: Path) -> None:
    again = host(file.parent, "--instances", str(file), "--pairs", "10", name="again")
    assert again.lines == run.lines
    other = host(file.parent, "--instances", str(file), "--pairs", "10", "--seed", "1", "--only", "torch.sum", name="other")
    assert other.tried("torch.sum") != run.tried("torch.sum")
    assert [each for each in other.tried("torch.sum") if ", " not in each] == [each for each in run.tried("torch.sum") if ", " not in each]


@pytest.mark.slow
def test_a_host_goes_on_after_the_variation_that_is_named(run: Run, file: Path) -> None:
    """What the driver asks for after a host has died: the calls that follow are those of the undisturbed run."""
    entries = [(line["entry"], line["name"]) for line in run.lines if "entry" in line]
    drawn = [name.partition("torch.sum::0::")[2] for _, name in entries if "torch.sum::0::" in name]
    deadly = next(each for each in drawn if ", " not in each and any(each in pair.split(", ") for pair in drawn if ", " in pair))
    middle = next(number for number, name in entries if name.endswith(f"torch.sum::0::{deadly}"))
    rest = host(file.parent, "--instances", str(file), "--pairs", "10", "--after", str(middle), name="rest")
    found = [(line["entry"], line["name"]) for line in rest.lines if "entry" in line]
    later = [each for each in entries if each[0] > middle]
    left_out = [each for each in later if each not in found]
    assert left_out
    assert all(name.startswith("torch.sum::0::") and deadly in name and ", " in name for _, name in left_out)
    assert found == [each for each in later if each not in left_out]
    assert rest.dropped("torch.sum")["ends-its-process"] == len(left_out)


@pytest.mark.slow
def test_without_recorded_calls_nothing_is_made_and_that_is_counted(tmp_path: Path) -> None:
    run = host(tmp_path)
    assert [line["dropped"] for line in run.lines if "dropped" in line] == ["no-sample:NoInstances"]
    assert "--instances" in run.log


class Hostile:
    """The source with a function that kills its process at one value, and hangs in native code at another."""

    library = "pytorch"
    name = "settings"
    description = SourceDescription("settings", "settings", "for tests", stall=45.0, timeout=600.0)

    SCRIPT = """
import functools, os, runpy, signal, sys, time, torch
real = torch.nn.functional.celu
@functools.wraps(real)
def celu(input, alpha: float = 1.0, inplace: bool = False):
    if alpha == 0.5:
        os.abort()
    if alpha == -1.0:
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
        time.sleep(1000)
    return real(input, alpha, inplace)
torch.nn.functional.celu = celu
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""

    def __init__(self, instances: Path) -> None:
        self._instances = instances

    def command(self, request: Request) -> list[str]:
        rest = [
            "opera.extensions.generators.hosts.settings",
            "--recording",
            str(request.recording),
            "--after",
            str(request.after),
            "--instances",
            str(self._instances),
        ]
        return [request.python, "-c", self.SCRIPT, str(INSTRUMENTATION / "__main__.py"), *rest, "--pairs", "60"]


@pytest.mark.slow
def test_a_call_that_kills_or_hangs_the_library_costs_no_other(tmp_path: Path) -> None:
    given = [torch_call("torch.nn.functional.celu", Argument("input", Tensor((2, 3), "float32")))]
    request = Request(sys.executable, tmp_path / "settings.jsonl", tmp_path)
    shard = SourceShard(Hostile(written(tmp_path / "instances.jsonl", given)), request)
    shard.start()
    rows = list(shard.rows(lambda: None))
    tests = {getattr(row.line, "test", "").split("::")[-1] for row in rows}
    assert [failure.cause for failure in shard.failures] == ["no progress for 45 s", "killed by SIGABRT"]
    assert [failure.entry.split("::")[-1] for failure in shard.failures] == ["call alpha=-1.0", "call alpha=0.5"]
    assert {"call alpha=2", "dtype of input=float64", "rank of input=0"} <= tests
    assert any("call alpha=2, " in test for test in tests)
    assert not any("call alpha=0.5" in test or "call alpha=-1.0" in test for test in tests)


# Keras


def of_keras() -> list[Instance]:
    image = Argument("inputs", Tensor((1, 4, 6, 3), "float32"))
    pooled = (Argument("pool_size", 2),)
    x = Argument("x", Tensor((2, 3), "float32"))
    return [
        Instance("keras", "keras.layers.AveragePooling2D", Kind.MODULE, init=pooled, call=(image,), outcome=Outcome.RETURNED),
        Instance("keras", "keras.ops.softmax", Kind.FUNCTION, call=(x,), outcome=Outcome.RETURNED),
    ]


@pytest.mark.slow
def test_keras_gives_the_words_of_its_documentation_and_its_layers_other_dtypes(tmp_path: Path) -> None:
    run = host(tmp_path, "--library", "keras", "--instances", str(written(tmp_path / "instances.jsonl", of_keras())), "--pairs", "5")
    pooled = run.made("keras.layers.AveragePooling2D")
    assert {"build padding='same'", "build strides=1", "build data_format='channels_first'", "size of inputs=0 in dimension 0"} <= set(
        pooled
    )
    assert pooled["dtype of inputs=float16"].context_value("dtype_policy") == "float16"
    assert {"call axis=0", "call axis=-2", "rank of x=3"} <= set(run.made("keras.ops.softmax"))


# The driver


@pytest.fixture
def command(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    monkeypatch.chdir(tmp_path)
    return runner(capfd)


@pytest.mark.slow
def test_the_workspaces_own_calls_get_settings_and_those_of_settings_do_not(command: Any) -> None:
    fill(".opera", *of_torch())
    ask = ("extract", "--lib", "pytorch", "--source", "settings", "--only", "torch.sum", "--option", "pairs=5", "-j", "1", "--json")
    done = command(*ask)
    assert done.code == 0, done.err
    assert "6 recorded calls of pytorch" in done.err
    source = done.json["sources"]["settings"]
    assert source["distinct"] > 20
    count = len(held(".opera"))
    again = command(*ask)
    assert again.json["sources"]["settings"]["distinct"] == source["distinct"]
    assert len(held(".opera")) == count


def test_a_workspace_without_calls_is_answered_with_what_to_do(command: Any) -> None:
    done = command("extract", "--lib", "keras", "--source", "settings", "--json")
    assert (done.code, done.out) == (2, "")
    assert "record some first with `opera extract --lib keras" in done.err
