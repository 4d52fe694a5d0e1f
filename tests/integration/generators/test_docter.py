"""What the generator `docter` promises: constraints that are read, calls that conform, calls that break one thing."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from fake.corpora import runner

from opera.errors import UserError
from opera.extensions.generators.constraints import read_constraints
from opera.extensions.generators.docter import documents
from opera.extensions.generators.docter.constraints import ParameterConstraint, TargetApi, ValueType
from opera.extensions.generators.docter.recipes import CallRecipe, TensorRecipe
from opera.extensions.generators.docter.search import Search
from opera.extensions.generators.docter.types import kinds_of
from opera.extensions.generators.docter.violations import violations
from opera.extract.description import INSTRUMENTATION
from opera.instance import Tensor, decode_instance

DOC = """blend(input, weight, mode='fast', ratio=0.5) -> Tensor

Args:
    input (Tensor): input tensor of shape :math:`(\\text{minibatch} , \\text{in\\_channels} , iW)`
    weight (Tensor or int): a 2-D tensor. Must be non-negative.
    mode (str, optional): one of ``'fast'``, ``'slow'`` or ``'exact'``. Default: ``'fast'``
    ratio (float, optional): probability of an element, in the range [0, 1].
        Default: 0.5
    sizes (tuple of ints): the sizes

Shape:
    - Target: :math:`(N, C, *)`
    - Output: :math:`(N)`

Returns:
    what (int): it is
"""


def test_documentation_gives_types_shapes_ranges_and_choices() -> None:
    facts = documents.read(DOC)
    assert facts["input"].kinds == (ValueType("tensor"),)
    assert len(facts["input"].shapes[0]) == 3
    assert facts["weight"].kinds == (ValueType("tensor"), ValueType("int"))
    assert (facts["weight"].ndims, facts["weight"].low) == ((2,), 0.0)
    assert facts["mode"].choices == ("fast", "slow", "exact")
    assert (facts["ratio"].low, facts["ratio"].high) == (0.0, 1.0)
    assert facts["sizes"].kinds == (ValueType("ints"),)
    assert facts["target"].shapes == (("N", "C", "..."),)
    assert "what" not in facts
    assert "output" not in facts


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("Optional[List[Tensor]]", [("tensors", None), ("none", None)]),
        ("Union[int, tuple[int, int]]", [("ints", 2), ("int", None)]),
        ("BroadcastingList2[int]", [("int", None), ("ints", 2)]),
        ("int or tuple of ints", [("int", None), ("ints", None)]),
        ("Number of groups", [("int", None)]),
        ("torch.dtype", [("dtype", None)]),
        ("sequence of Tensors", [("tensors", None)]),
        ("callable", [("other", None)]),
    ],
)
def test_types_are_read_from_annotations_and_from_words(text: str, kinds: list[tuple[str, int | None]]) -> None:
    assert sorted(kinds_of(text), key=str) == sorted((ValueType(*kind) for kind in kinds), key=str)


def library(recipe: CallRecipe) -> str | None:
    """Stands for a function `f(input, weight, groups)` that wants weight.shape == (groups, channels of input)."""
    given = {argument.name: argument.value for argument in recipe.call}
    shape, weight = given["input"].shape, given["weight"].shape
    if len(shape) != 3:
        return f"Expected 3D input, got {len(shape)}D"
    if given["input"].dtype != "int64":
        return "input must be an int64 tensor"
    if len(weight) != 2 or weight[1] != shape[1]:
        return f"weight of {list(weight)} does not match {shape[1]} channels"
    return None if weight[0] == given["groups"] else f"expected {given['groups']} groups, got {weight[0]}"


API = TargetApi(
    "f",
    None,
    (
        (
            ParameterConstraint("input", (ValueType("tensor"),)),
            ParameterConstraint("weight", (ValueType("tensor"),)),
            ParameterConstraint("groups", (ValueType("int"),)),
        ),
    ),
)


def search(seed: str = "a") -> list[CallRecipe]:
    told: list[CallRecipe] = []
    found = Search(API, library, seed, 600).run(10, lambda _number, recipe: told.append(recipe))
    assert told == found.calls
    assert found.tries <= 600
    return found.calls


def test_search_learns_from_messages_until_calls_return() -> None:
    calls = search()
    assert len(calls) == 10
    assert all(library(recipe) is None for recipe in calls)
    assert len({repr(recipe) for recipe in calls}) == 10
    assert len({recipe.call[0].value.shape for recipe in calls}) > 2


def test_search_depends_on_its_seed_only() -> None:
    assert search() == search() != search("b")


def test_a_search_that_finds_nothing_ends_and_says_why() -> None:
    found = Search(API, lambda _recipe: "never", "a", 50).run(5, lambda _number, _recipe: None)
    assert (found.calls, found.tries, found.reason) == ([], 50, "never")


def test_what_is_never_drawable_is_named() -> None:
    api = TargetApi("f", None, ((ParameterConstraint("callback", (ValueType("other"),)),),))
    assert Search(api, lambda _recipe: None, "a", 50).run(5, lambda _number, _recipe: None).reason == "no value for callback"


def test_a_violation_changes_exactly_one_argument() -> None:
    recipe = search()[0]
    found = violations(recipe, random.Random(0))
    for violation in found:
        same = {given.name: given.value for given in violation.recipe.call}
        changed = [given.name for given in recipe.call if given.name not in same or repr(same[given.name]) != repr(given.value)]
        assert changed == [violation.what.partition(":")[0]]
    assert {"input: empty", "input: scalar", "input: dtype", "groups: huge", "groups: negative", "weight: none"} <= {v.what for v in found}


def test_sizes_stay_small() -> None:
    api = TargetApi(
        "f", None, ((ParameterConstraint("input", (ValueType("tensor"),), shapes=(("a", "b", "c", "d", "e", "g", "h", "i"),)),),)
    )
    calls = Search(api, lambda _recipe: None, "a", 200).run(100, lambda _number, _recipe: None).calls
    assert all(value.size <= 20_000 for recipe in calls for _, value in recipe.parts() if isinstance(value, TensorRecipe))


# Constraint files


def yaml(folder: Path, text: str, name: str = "torch.blend.yaml") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text)
    return folder


GOOD = """
title: torch.blend
package: torch
inputs: {required: [input], optional: [mode]}
constraints:
  input: {descp: the input, tensor_t: [torch.tensor], ndim: ['>=4'], shape: ['[n,c,&groups,3]'], dtype: [torch.float32, numeric]}
  groups: {dtype: [int], ndim: ['0', '1'], structure: [tuple], range: ['[1,inf)']}
  mode: {dtype: [string], enum: [fast, slow], default: fast}
  odd: {dtype: ['dtype:&input'], range: [weird]}
"""


def test_constraint_files_are_read(tmp_path: Path) -> None:
    found = read_constraints(yaml(tmp_path / "c", GOOD), "pytorch")
    rows = found.apis["torch.blend"]
    assert rows["input"]["kinds"] == ["tensor"]
    assert rows["input"]["ndims"] == [4, 5]
    assert rows["input"]["shapes"] == [["n", "c", "groups", 3]]
    assert rows["input"]["dtypes"] == ["float32", "float64", "int32", "int64"]
    assert (rows["groups"]["kinds"], rows["groups"]["low"]) == (["int", "ints"], 1.0)
    assert rows["mode"]["choices"] == ["fast", "slow"]
    assert found.ignored == {"dtype: dtype:&input": 1, "range: weird": 1}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("title: [", r"blend\.yaml: not a YAML file"),
        ("- a\n", r"blend\.yaml: expected a mapping"),
        ("constraints: {}\n", r"blend\.yaml: 'title'"),
        ("title: torch.a\nconstraints: [a]\n", r"blend\.yaml: 'constraints' must be a mapping"),
        ("title: torch.a\nconstraints: {x: 1}\n", r"blend\.yaml: constraints of 'x'"),
        ("title: torch.a\nconstraints: {x: {dtype: [{}]}}\n", r"blend\.yaml: 'dtype' of 'x'"),
        (f"title: torch.a\nx: {'[' * 500_000}", r"blend\.yaml: .*nested too deep"),
        (f"title: torch.a\nx:\n {'- ' * 500_000}", r"blend\.yaml: .*nested too deep"),
        ("title: &a torch.a\nconstraints: *a\n", r"blend\.yaml: .*aliases"),
        ("title: tf.a\n", "none of its 1 YAML files"),
    ],
)
def test_a_malformed_constraint_file_is_named_with_its_key(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        read_constraints(yaml(tmp_path / "c", text), "pytorch")


def test_a_folder_without_constraint_files_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no YAML file"):
        read_constraints(tmp_path, "pytorch")


# The host, in PyTorch


@dataclass
class Run:
    lines: list[Any]
    log: str
    outcomes: Counter[tuple[str, str, str]] = field(default_factory=Counter[tuple[str, str, str]])

    @property
    def documents(self) -> list[Any]:
        return [line["instance"] for line in self.lines if "instance" in line]


def host(folder: Path, *arguments: str, name: str = "recording") -> Run:
    path = folder / f"{name}.jsonl"
    command = [
        sys.executable,
        str(INSTRUMENTATION / "__main__.py"),
        "opera.extensions.generators.hosts.docter",
        "--recording",
        str(path),
        *arguments,
    ]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)
    assert done.returncode == 0, done.stderr
    run = Run([json.loads(line) for line in path.read_text().splitlines()], done.stdout)
    for line in run.lines:
        if "instance" in line:
            _, api, mode, _ = line["test"].split("::")
            run.outcomes[api, mode, line["instance"]["outcome"]] += 1
    return run


APIS = (
    "torch.add", "torch.matmul", "torch.cat", "torch.gather", "torch.nn.functional.conv2d", "torch.nn.functional.cross_entropy",
    "torch.linalg.cholesky", "torch.Tensor.masked_fill_", "torch.nn.Conv2d", "torch.nn.LSTM", "torch.nn.BatchNorm1d",
    "torch.nn.functional.batch_norm",
)  # fmt: skip
ONLY = [f"--only={api}" for api in APIS]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return host(tmp_path_factory.mktemp("docter"), *ONLY)


@pytest.mark.slow
def test_functions_methods_and_modules_get_calls_that_return(run: Run) -> None:
    reached = [api for api in APIS if run.outcomes[api, "conform", "returned"] >= 5]
    assert len(reached) >= len(APIS) - 1, run.log


def test_conforming_calls_return_and_some_violations_raise(run: Run) -> None:
    counts: Counter[tuple[str, str]] = Counter()
    for (_, mode, outcome), number in run.outcomes.items():
        counts[mode, outcome] += number
    assert counts["conform", "returned"] > 50 * counts["conform", "raised"]
    assert counts["violate", "raised"] > 20


def test_what_is_recorded_are_instances_of_the_library(run: Run) -> None:
    instances = [decode_instance(document) for document in run.documents]
    assert {"torch.add", "torch.nn.Conv2d", "torch.Tensor.masked_fill_"} <= {instance.api for instance in instances}
    assert all(isinstance(tensor, Tensor) and tensor.size < 30_000 for instance in instances for tensor in instance.tensors())


@pytest.mark.slow
def test_the_same_seed_gives_the_same_recording_in_any_number_of_shards(run: Run, tmp_path: Path) -> None:
    def sorted_documents(*runs: Run) -> list[str]:
        return sorted(json.dumps(document, sort_keys=True) for one in runs for document in one.documents)

    shards = [host(tmp_path, *ONLY, "--shard", f"{number}/2", name=f"shard{number}") for number in (0, 1)]
    assert sorted_documents(*shards) == sorted_documents(run)
    assert sorted_documents(host(tmp_path, "--only=torch.add", "--seed", "1")) != sorted_documents(host(tmp_path, "--only=torch.add"))


@pytest.mark.slow
def test_constraints_of_a_file_are_obeyed(tmp_path: Path) -> None:
    text = "title: torch.abs\nconstraints:\n  self: {ndim: ['2'], dtype: [torch.float64], tensor_t: [torch.tensor]}\n"
    read_constraints(yaml(tmp_path / "c", text), "pytorch").write(tmp_path / "c.json")
    run = host(tmp_path, "--only=torch.abs", "--violate", "0", "--constraints", str(tmp_path / "c.json"))
    tensors = [tensor for document in run.documents for tensor in decode_instance(document).tensors()]
    assert {tensor.dtype for tensor in tensors} == {"float64"}
    assert sum(len(tensor.shape) == 2 for tensor in tensors) > len(tensors) / 2


@pytest.mark.slow
def test_an_api_without_a_valid_call_is_counted(tmp_path: Path) -> None:
    run = host(tmp_path, "--only=torch.Tensor.crow_indices")
    assert [line["dropped"] for line in run.lines if "dropped" in line] == ["no-sample:NoValidCall"]


@pytest.mark.parametrize(
    ("library", "apis"),
    [
        pytest.param(
            "keras",
            ("keras.ops.matmul", "keras.ops.split", "keras.layers.Dense", "keras.layers.Add", "keras.layers.LSTM"),
            marks=pytest.mark.slow,  # starts TensorFlow for the promises that PyTorch shows
        ),
        pytest.param(
            "tensorflow", ("tf.matmul", "tf.split", "tf.nn.softmax", "tf.linalg.expm", "tf.math.in_top_k"), marks=pytest.mark.slow
        ),
    ],
)
def test_keras_and_tensorflow_are_generated_for_in_the_same_way(tmp_path: Path, library: str, apis: tuple[str, ...]) -> None:
    run = host(tmp_path, "--library", library, "--conform", "6", "--violate", "4", *(f"--only={api}" for api in apis))
    reached = {api for (api, mode, outcome), number in run.outcomes.items() if (mode, outcome) == ("conform", "returned") and number >= 2}
    assert len(reached) >= len(apis) - 1, run.log
    assert {document["library"] for document in run.documents} == {library}


@pytest.mark.parametrize(
    ("library", "api", "tensor"),
    [
        pytest.param("keras", "keras.ops.cosh", "tf.tensor", marks=pytest.mark.slow),
        pytest.param("tensorflow", "tf.math.cosh", "tf.tensor", marks=pytest.mark.slow),
    ],
)
def test_a_folder_of_constraints_may_be_named_from_where_the_user_is(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, library: str, api: str, tensor: str
) -> None:
    monkeypatch.chdir(tmp_path)
    yaml(Path("files"), f"title: {api}\nconstraints:\n  x: {{ndim: ['3'], dtype: [float64], tensor_t: [{tensor}]}}\n", f"{api}.yaml")
    options = ("--option", "violate=0", "--option", "conform=6", "--constraints", "files")
    command = runner(capfd)
    done = command("extract", "--lib", library, "--source", "docter", "--only", api, "-q", "--json", *options)
    assert done.code == 0, done.err
    assert "constraints of 1 APIs" in done.err
    exported = command("export", "jsonl", "-", "--lib", library)
    lines = [json.loads(line) for line in exported.out.splitlines()]
    found = [decode_instance(line["instance"]) for line in lines if "instance" in line]
    assert {tensor.dtype for instance in found for tensor in instance.tensors()} == {"float64"}
