"""What a workspace counts: provenance of bounded size, instances up to dtype, and workspaces that an older version wrote."""

from __future__ import annotations

from pathlib import Path

import pytest
from fake.corpora import Run, fill, runner, tensor, torch_call

from opera.instance import Argument, Call, DType, Instance, Kind, Occurrence, Tensor, digest, shape_digest
from opera.store import Corpus
from opera.store.database import open_workspace


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Runs a command of `opera` in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    return runner(capfd)


GOOD = torch_call("add", tensor(2, 3), 1.5)
BIG = torch_call("big", Tensor((5000,), "uint8", bytes(range(250)) * 20))
RELU = Instance("onnx", "ai.onnx.Relu", Kind.NODE, call=(Argument("X", tensor(2)),), context=(("opset", 14),))
VARIOUS = (GOOD, BIG, RELU, torch_call("to", tensor(2), DType("float64")))


# Provenance.


def test_provenance_does_not_grow_with_tests_nor_with_calls(run: Run) -> None:
    with open_workspace(Path("w"), write=True) as space:
        corpus = Corpus(space)
        corpus.add([(GOOD, Occurrence("suite", "test_00", 1))])
        for _ in range(3):
            corpus.add_occurrences((digest(GOOD), Occurrence("suite", f"test_{number:02}", 2)) for number in range(50))
        corpus.add_occurrences([(digest(GOOD), Occurrence("other", "test_00", 4))])
        seen = corpus.provenance(digest(GOOD))
    assert seen == [
        Occurrence("other", "test_00", 4), Occurrence("suite", "test_00", 7), *(Occurrence("suite", f"test_0{n}", 6) for n in range(1, 10)),
        Occurrence("suite", "*", 240),
    ]  # fmt: skip
    shown = run("show", digest(GOOD), "--workspace", "w").out
    assert "further tests  240 calls" in shown
    assert "returned in its recording" in shown


def test_recording_again_counts_anew_and_continuing_adds_up(run: Run) -> None:
    many = [(digest(GOOD), Occurrence("suite", f"test_{number:02}", 2)) for number in range(20)]
    fill("w", GOOD, test="test_00", calls=2)
    with open_workspace(Path("w"), write=True) as space:
        for _ in range(2):
            Corpus(space).add_occurrences(many)
            assert sum(each.calls for each in Corpus(space).provenance(digest(GOOD))) == 40
        Corpus(space, continues=True).add_occurrences(many)
        assert sum(each.calls for each in Corpus(space).provenance(digest(GOOD))) == 80


# Counts up to dtype.


@pytest.mark.parametrize(
    "other",
    [
        torch_call("f", tensor(2, 3, dtype="int64"), p=1),
        torch_call("f", Tensor((2, 3), "bool", bytes(6)), p=1),
        torch_call("f", tensor(2, 3), p=1, dtype=DType("float64")),
        torch_call("f", tensor(2, 3), p=1, dtype=7),
        torch_call("f", tensor(2, 3), DType("int8"), p=1),
        torch_call("f", tensor(2, 3), p=1, q=0, defaults={"q": 0}),
    ],
)
def test_instances_that_differ_in_dtypes_and_tensor_values_only_count_once(other: Instance) -> None:
    assert shape_digest(other) == shape_digest(torch_call("f", tensor(2, 3), p=1))


@pytest.mark.parametrize(
    "other",
    [
        torch_call("g", tensor(2, 3), p=1),
        torch_call("f", tensor(3, 2), p=1),
        torch_call("f", Tensor((2, 3), "float32", strides=(1, 2)), p=1),
        torch_call("f", tensor(2, 3), p=2),
        torch_call("f", tensor(2, 3), p=1, q=0),
        torch_call("f", [tensor(2, 3)], p=1),
        torch_call("f", Call("torch.nn.ReLU", ()), p=1),
    ],
)
def test_instances_that_differ_in_anything_else_count_apart(other: Instance) -> None:
    assert shape_digest(other) != shape_digest(torch_call("f", tensor(2, 3), p=1))


def test_dtypes_inside_of_arguments_do_not_count_either() -> None:
    pair = [torch_call("f", [DType(name)], Call("torch.g", (("dtype", DType(name)), ("n", 1)))) for name in ("int8", "float32")]
    assert shape_digest(pair[0]) == shape_digest(pair[1])
    assert digest(pair[0]) != digest(pair[1])


def test_ls_counts_operators_sources_and_what_differs_in_more_than_dtypes(run: Run) -> None:
    fill("w", *(torch_call("relu", tensor(2, dtype=name)) for name in ("float32", "float64", "int8")), source="one")
    fill("w", torch_call("relu", tensor(3)), torch_call("add", tensor(2), 1), source="two", test="test_two[2]")
    found = run("ls", "--workspace", "w", "--json").json
    (library,) = found["libraries"]
    assert (library["instances"], library["up_to_dtype"], library["operators"]) == (5, 3, 2)
    assert library["largest"][0] == {"api": "torch.relu", "instances": 4, "up_to_dtype": 2}
    assert [(row["source"], row["instances"], row["up_to_dtype"], row["operators"]) for row in found["sources"]] == [
        ("one", 3, 1, 1), ("two", 2, 2, 2),
    ]  # fmt: skip
    assert "seen" not in found
    two = run("ls", "--workspace", "w", "--source", "two", "-k", "add", "--json").json
    assert [row["api"] for row in two["libraries"][0]["largest"]] == ["torch.add"]
    assert [row["source"] for row in two["sources"]] == ["two"]


def test_ls_says_which_instances_a_test_gave(run: Run) -> None:
    fill("w", GOOD, BIG, test="test_a")
    fill("w", GOOD, test="test_b", calls=3)
    found = run("ls", "--workspace", "w", "--test", "test_[b-z]", "--json").json
    assert found["seen"] == [
        {"instance": digest(GOOD), "library": "pytorch", "api": "torch.add", "source": "suite", "test": "test_b", "calls": 3}
    ]
    assert found["libraries"][0]["instances"] == 1
    assert digest(BIG)[:12] in run("ls", "--workspace", "w", "--test", "test_a").out
    nothing = run("ls", "--workspace", "w", "--test", "test_c")
    assert (nothing.code, nothing.out) == (4, "")


def test_ls_lists_all_operators_when_asked(run: Run) -> None:
    fill("w", *(torch_call(f"f{number}") for number in range(15)))
    assert "… 5 more; --operators lists them" in run("ls", "--workspace", "w").out
    assert run("ls", "--workspace", "w", "--operators").out.count("torch.f") == 15
    assert len(run("ls", "--workspace", "w", "--operators", "--json").json["libraries"][0]["largest"]) == 15
