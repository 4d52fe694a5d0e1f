"""What the generator `deeprel` promises: likeness, matching, verified relations, replayed calls."""

from __future__ import annotations

import itertools
import json
import random
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from fake.corpora import fill, runner

from opera.extensions.generators.deeprel.assignment import assign
from opera.extensions.generators.deeprel.matching import ParameterSlot, match
from opera.extensions.generators.deeprel.similarity import ComparedApi, Likeness
from opera.extensions.generators.deeprel.words import distance, likeness
from opera.extensions.generators.docter import constraints
from opera.extensions.generators.docter.constraints import ParameterConstraint, TargetApi
from opera.extract.description import INSTRUMENTATION
from opera.instance import Argument, DType, Instance, Kind, Outcome, Tensor, decode_instance, encode_instance

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (3, 3), (2, 5), (5, 2), (4, 4)])
def test_an_assignment_is_the_best_of_all(rows: int, columns: int) -> None:
    generator = random.Random(rows * 10 + columns)
    for _ in range(30):
        scores = [[generator.choice((0.0, 0.5, generator.random())) for _ in range(columns)] for _ in range(rows)]
        found = assign(scores)
        assert len({row for row, _ in found}) == len({column for _, column in found}) == len(found) == min(rows, columns)
        small, large = sorted((rows, columns))
        ways = itertools.permutations(range(large), small)
        best = max(sum(scores[a][b] if rows <= columns else scores[b][a] for a, b in enumerate(way)) for way in ways)
        assert sum(scores[row][column] for row, column in found) == pytest.approx(best)


def test_an_assignment_of_nothing_is_empty() -> None:
    assert assign([]) == assign([[]]) == []


@pytest.mark.parametrize(("one", "other", "steps"), [("", "abc", 3), ("kernel", "kernel", 0), ("dim", "dims", 1), ("kitten", "sitting", 3)])
def test_distance_is_levenshteins(one: str, other: str, steps: int) -> None:
    assert distance(one, other) == distance(other, one) == steps


def test_likeness_of_names_lies_between_0_and_1() -> None:
    assert likeness("", "") == likeness("dim", "dim") == 1.0
    assert likeness("abc", "xyz") == 0.0
    assert 0 < likeness("input", "inputs") < 1


def slot(name: str, kind: str, place: int, part: str = "call") -> ParameterSlot:
    return ParameterSlot(part, name, frozenset({kind}), place, True)


def parameter(name: str, kind: str, required: bool = True) -> ParameterConstraint:
    return ParameterConstraint(name, (constraints.ValueType(kind),), required=required)


def test_arguments_are_matched_by_name_type_and_position() -> None:
    source = [slot("input", "tensor", 0), slot("kernel_size", "ints", 1), slot("stride", "ints", 2)]
    target = TargetApi("f", None, ((parameter("stride", "ints"), parameter("kernel", "ints"), parameter("x", "tensor")),))
    found = match(source, target)
    assert found is not None
    assert {name: item.name for (_, name), item in found.pairs.items()} == {"input": "x", "kernel_size": "kernel", "stride": "stride"}


def test_types_that_do_not_fit_are_never_matched() -> None:
    assert match([slot("input", "tensor", 0)], TargetApi("f", None, ((parameter("input", "string"),),))) is None


def test_a_target_that_needs_more_than_there_is_has_no_match() -> None:
    target = TargetApi("f", None, ((parameter("input", "tensor"), parameter("weight", "tensor")),))
    assert match([slot("input", "tensor", 0)], target) is None


def test_the_best_overload_is_taken() -> None:
    scalar, tensor = (parameter("self", "tensor"), parameter("other", "float")), (parameter("self", "tensor"), parameter("other", "tensor"))
    found = match([slot("input", "tensor", 0), slot("other", "tensor", 1)], TargetApi("f", None, (scalar, tensor)))
    assert found is not None
    assert found.variant == 1


def test_relatives_are_ranked_by_signature_documentation_and_name() -> None:
    pool, other = [slot("input", "tensor", 0), slot("kernel_size", "ints", 1)], [slot("text", "string", 0)]
    nothing: Counter[tuple[int, str]] = Counter()
    subjects = [ComparedApi("l.avg_pool", pool, nothing), ComparedApi("l.max_pool", pool, nothing), ComparedApi("l.split", other, nothing)]
    texts = {"l.avg_pool": "pools the average of windows", "l.max_pool": "pools the maximum of windows", "l.split": "cuts words apart"}
    (first, nearest), (second, farthest) = Likeness(subjects, texts).ranked("l.avg_pool", 5)
    assert (nearest, farthest) == ("l.max_pool", "l.split")
    assert 1 >= first > second >= 0


# The host, in PyTorch


@dataclass
class Run:
    lines: list[Any]
    log: str

    @property
    def tests(self) -> dict[str, set[str]]:
        """Source -> target, with the kinds of relation under which calls were replayed."""
        found: dict[str, set[str]] = {}
        for line in self.lines:
            if "test" in line:
                _, pair, kind, _ = line["test"].split("::")
                found.setdefault(pair, set()).add(kind)
        return found

    def instances(self, api: str) -> list[Instance]:
        return [decode_instance(line["instance"]) for line in self.lines if line.get("instance", {}).get("api") == api]


def host(folder: Path, *arguments: str, name: str = "recording") -> Run:
    path = folder / f"{name}.jsonl"
    command = [
        sys.executable,
        str(INSTRUMENTATION / "__main__.py"),
        "opera.extensions.generators.hosts.deeprel",
        "--recording",
        str(path),
        *arguments,
    ]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)
    assert done.returncode == 0, done.stderr
    return Run([json.loads(line) for line in path.read_text().splitlines()], done.stdout)


def recorded() -> list[Instance]:
    def call(api: str, *arguments: Argument, kind: Kind = Kind.FUNCTION, **more: Any) -> Instance:
        return Instance("pytorch", api, kind, call=arguments, outcome=Outcome.RETURNED, **more)

    shapes = [(2, 3), (4,), (1, 2, 3), (5, 1)]
    tensors = [Tensor(shape, "float32") for shape in shapes]
    found = [call("torch.nn.functional.softplus", Argument("input", tensor), Argument("beta", 2.0, True)) for tensor in tensors]
    found += [call("torch.cosh", Argument("input", tensor)) for tensor in tensors]
    found += [call("torch.sum", Argument("input", tensor), Argument("dim", 0, True)) for tensor in tensors]
    found += [call("torch.sum", Argument("input", tensors[0]), Argument("dtype", DType("float64"), True))]
    context = (("training", False),)
    found += [call("torch.nn.Tanh", Argument("input", tensor), kind=Kind.MODULE, context=context) for tensor in tensors]
    return found


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("instances") / "instances.jsonl"
    lines: list[Any] = [{"schema": "corpus/1", "instances": 17}]
    lines += [{"id": str(number), "instance": encode_instance(instance)} for number, instance in enumerate(recorded())]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.fixture(scope="module")
def run(file: Path) -> Run:
    return host(file.parent, "--instances", str(file))


@pytest.mark.slow
def test_equal_results_make_a_value_relation(run: Run) -> None:
    assert run.tests["torch.nn.functional.softplus->torch.nn.Softplus"] == {"value"}
    assert run.tests["torch.nn.Tanh->torch.tanh"] == {"value"}


def test_equal_success_makes_a_status_relation(run: Run) -> None:
    assert run.tests["torch.cosh->torch.cos"] == {"status"}


def test_the_sources_arguments_reach_the_parameters_that_they_match(run: Run) -> None:
    built = run.instances("torch.nn.Softplus")
    assert {instance.call[0].value.shape for instance in built} == {(2, 3), (4,), (1, 2, 3), (5, 1)}
    assert {argument.value for instance in built for argument in instance.init} == {2.0}


def test_every_related_pair_has_its_calls_recorded_under_its_name(run: Run) -> None:
    assert all(kinds <= {"value", "status"} and len(kinds) == 1 for kinds in run.tests.values())
    assert len(run.tests) > 5
    assert not any(source == target for source, _, target in (pair.partition("->") for pair in run.tests))


def test_the_log_tells_likeness_kind_and_match(run: Run) -> None:
    (line,) = [line for line in run.log.splitlines() if line.startswith("torch.nn.functional.softplus -> torch.nn.Softplus:")]
    assert "value in 4 calls" in line
    assert "beta=beta" in line
    assert 0 < float(line.partition("likeness ")[2][:4]) <= 1


@pytest.mark.slow
def test_the_same_file_gives_the_same_recording(run: Run, file: Path) -> None:
    assert host(file.parent, "--instances", str(file), name="again").lines == run.lines


@pytest.mark.slow
def test_without_recorded_instances_nothing_is_made_and_that_is_counted(tmp_path: Path) -> None:
    run = host(tmp_path)
    assert [line.get("dropped") for line in run.lines if "dropped" in line] == ["no-sample:NoInstances"]
    assert "--instances" in run.log


# The host, in Keras and TensorFlow


def of_keras() -> list[Instance]:
    def call(api: str, *arguments: Argument, kind: Kind = Kind.FUNCTION, **more: Any) -> Instance:
        return Instance("keras", api, kind, call=arguments, outcome=Outcome.RETURNED, **more)

    tensors = [Tensor(shape, "float32") for shape in ((2, 3), (4,), (1, 2, 3), (5, 1))]
    found = [call("keras.ops.relu6", Argument("x", tensor)) for tensor in tensors]
    found += [call("keras.ops.cosh", Argument("x", tensor)) for tensor in tensors]
    slope = (Argument("alpha", 0.3, True),)
    found += [call("keras.layers.ELU", Argument("inputs", tensor), kind=Kind.MODULE, init=slope) for tensor in tensors]
    images = [Tensor((2, side, 4, 3), "float32") for side in (3, 4, 5)]
    first = (("image_data_format", "channels_first"),)
    for image in images:
        size = Argument("pool_size", 2, True)
        found.append(call("keras.layers.AveragePooling2D", Argument("inputs", image), kind=Kind.MODULE, init=(size,), context=first))
    return found


def of_tensorflow() -> list[Instance]:
    def call(api: str, *arguments: Argument) -> Instance:
        return Instance("tensorflow", api, Kind.FUNCTION, call=arguments, outcome=Outcome.RETURNED)

    tensors = [Tensor(shape, "float32") for shape in ((2, 3), (4, 2), (1, 2, 3), (5, 1))]
    found = [call("tf.math.cosh", Argument("x", tensor)) for tensor in tensors]
    found += [call("tf.math.reduce_sum", Argument("input_tensor", tensor), Argument("axis", 0, True)) for tensor in tensors]
    words = Tensor((2,), "string", json.dumps(["a", "B"]).encode())
    found += [call("tf.strings.lower", Argument("input", words)) for _ in range(3)]
    return found


def generated(folder: Path, library: str, instances: list[Instance]) -> Run:
    path = folder / "instances.jsonl"
    foreign = [recorded()[0]]
    lines = [{"id": str(number), "instance": encode_instance(instance)} for number, instance in enumerate([*instances, *foreign])]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return host(folder, "--library", library, "--instances", str(path))


@pytest.fixture(scope="module")
def keras_run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return generated(tmp_path_factory.mktemp("keras"), "keras", of_keras())


@pytest.fixture(scope="module")
def tensorflow_run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return generated(tmp_path_factory.mktemp("tensorflow"), "tensorflow", of_tensorflow())


@pytest.mark.slow
def test_functions_of_keras_are_related_to_other_functions_and_to_layers(keras_run: Run) -> None:
    assert keras_run.tests["keras.ops.relu6->keras.activations.relu6"] == {"value"}
    assert keras_run.tests["keras.ops.cosh->keras.ops.cos"] == {"status"}
    assert keras_run.tests["keras.layers.ELU->keras.activations.elu"] == {"value"}
    assert {instance.library for api in ("keras.activations.elu",) for instance in keras_run.instances(api)} == {"keras"}


@pytest.mark.slow
def test_a_layers_settings_are_those_of_its_recorded_calls(keras_run: Run) -> None:
    pooled = keras_run.instances("keras.layers.MaxPooling2D")
    assert pooled
    assert {instance.context_value("image_data_format") for instance in pooled} == {"channels_first"}


@pytest.mark.slow
def test_functions_of_tensorflow_are_related_texts_among_them(tensorflow_run: Run) -> None:
    assert tensorflow_run.tests["tf.math.cosh->tf.math.cos"] == {"status"}
    assert tensorflow_run.tests["tf.math.reduce_sum->tf.math.reduce_mean"] == {"status"}
    assert tensorflow_run.tests["tf.strings.lower->tf.strings.upper"] == {"status"}
    assert {instance.outcome for instance in tensorflow_run.instances("tf.math.reduce_mean")} == {Outcome.RETURNED}


@pytest.mark.slow
def test_recorded_calls_of_another_library_are_passed_over(keras_run: Run, tensorflow_run: Run) -> None:
    sources = {pair.partition("->")[0] for run in (keras_run, tensorflow_run) for pair in run.tests}
    assert sources
    assert not any(source.startswith("torch.") for source in sources)


# The driver


@pytest.fixture
def command(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    monkeypatch.chdir(tmp_path)
    return runner(capfd)


def replay(library: str, api: str) -> tuple[str, ...]:
    return ("extract", "--lib", library, "--source", "deeprel", "--only", api, "-j", "1", "--json")


REPLAY = replay("pytorch", "torch.cosh")


@pytest.mark.parametrize(
    ("library", "api", "calls"),
    [
        pytest.param("pytorch", "torch.cosh", 17, marks=pytest.mark.slow),
        pytest.param("keras", "keras.ops.cosh", 15, marks=pytest.mark.slow),
        pytest.param("tensorflow", "tf.math.cosh", 9, marks=pytest.mark.slow),
    ],
)
def test_the_workspaces_own_calls_are_replayed(command: Any, library: str, api: str, calls: int) -> None:
    fill(".opera", *recorded(), *of_keras(), *of_tensorflow())
    done = command(*replay(library, api))
    assert done.code == 0, done.err
    source = done.json["sources"]["deeprel"]
    assert source["distinct"] > 0
    assert f"{calls} recorded calls of {library}" in done.err
    again = command(*replay(library, api))
    assert again.json["sources"]["deeprel"] == {**source, "seconds": again.json["sources"]["deeprel"]["seconds"]}


def test_what_raised_when_it_was_recorded_is_not_replayed(command: Any) -> None:
    fill(".opera", *(replace(instance, outcome=Outcome.RAISED) for instance in recorded()))
    done = command(*REPLAY)
    assert done.code == 2
    assert "record some first with `opera extract --lib pytorch" in done.err


def test_a_workspace_without_calls_is_answered_with_what_to_do(command: Any) -> None:
    done = command(*REPLAY)
    assert (done.code, done.out) == (2, "")
    assert "record some first with `opera extract --lib pytorch" in done.err
    assert "--option instances=FILE" in done.err


@pytest.mark.slow
def test_a_file_of_recorded_calls_may_be_named_from_where_the_user_is(command: Any, file: Path, tmp_path: Path) -> None:
    (tmp_path / "calls.jsonl").write_bytes(file.read_bytes())
    done = command(*REPLAY, "--option", "instances=calls.jsonl")
    assert done.code == 0, done.err
    assert done.json["sources"]["deeprel"]["distinct"] > 0
    missing = command(*REPLAY, "--option", "instances=call.jsonl")
    assert missing.code == 2
    assert "the file call.jsonl does not exist" in missing.err
