"""`opera opidiff check`, `expand` and `schema`, and files that mean harm."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
import yaml

from opera.cli.options import guarded
from opera.extensions.opidiff.cli.opidiff import command
from opera.extensions.opidiff.problems import InvalidSuite
from opera.extensions.opidiff.schema import json_schema
from opera.extensions.opidiff.suite import load_suite
from opera.extensions.opidiff.table import NODES, OPERATIONS

SUITE = """
dims: {N: 4}
tests:
  - id: a
    op: aten::relu
    in: [{type: tensor, shape: [N], kind: float, p: 0.5}]
  - id: p
    op:
      type: template_compare_pair
      vars: {n: [N]}
      a: {impl: one, path: torch.nn.ReLU}
      b: {impl: two, path: torch.nn.ELU, args: [{var: n}]}
    in: [{type: tensor, shape: [N], kind: float}]
"""


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = guarded(command, list(arguments))
    out, err = capsys.readouterr()
    return code, out, err


@pytest.fixture
def good(tmp_path: Path) -> str:
    (tmp_path / "s.yaml").write_text(SUITE)
    return str(tmp_path / "s.yaml")


@pytest.fixture
def bad(tmp_path: Path) -> str:
    (tmp_path / "s.yaml").write_text(
        SUITE.replace("op: aten::relu", "opp: aten::relu").replace("shape: [N], kind: float}]\n", "shape: [M]}]\n")
    )
    return str(tmp_path / "s.yaml")


def test_check_counts_tests_and_shows_warnings(good: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "check", good)
    assert (code, out) == (0, "3 tests in 1 file, no errors\n")
    assert err.startswith(f"{good}:6:53: warning: test a, aten::relu, in[0]: 'p' has no effect")


def test_check_lists_all_errors(bad: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "check", bad)
    assert (code, out) == (2, "")
    assert "did you mean 'op'?" in err
    assert f"{bad}:13:10: test p, template_compare_pair, in[0]: a tensor needs the field" in err
    assert "needs the field 'kind' or the field 'dtype'" in err
    assert "unknown dimension 'M'" in err
    assert err.splitlines()[-1].startswith("opera: ")


def test_check_and_expand_give_json(good: str, bad: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "check", bad, "--json")
    document = json.loads(out)
    assert (code, document["schema"], document["tests"]) == (2, "opidiff-check/1", None)
    assert {"file", "line", "column", "test", "operator", "where", "message"} == document["errors"][0].keys()


def test_expand_lists_ids(good: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "expand", good)[:2] == (0, "a\np__n=N__a\np__n=N__b\n")
    document = json.loads(run(capsys, "expand", good, "--json")[1])
    assert [each["pair"] for each in document["tests"]] == [None, "p__n=N", "p__n=N"]
    assert document["tests"][0]["line"] == 4


def test_schema_has_every_type_and_refuses_unknown_fields(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "schema")
    schema = json.loads(out)
    assert code == 0
    assert schema == json.loads(json.dumps(json_schema()))
    assert {*NODES, *OPERATIONS} <= schema["$defs"].keys()
    assert all(schema["$defs"][name]["additionalProperties"] is False for name in (*NODES, *OPERATIONS))


def test_the_schema_and_the_validator_agree(tmp_path: Path) -> None:
    validator = jsonschema.Draft202012Validator(json_schema())
    assert list(validator.iter_errors(yaml.safe_load(SUITE))) == []
    cases = yaml.safe_load((Path(__file__).parents[2] / "golden" / "opidiff-sentences.yaml").read_text())
    for name, case in cases.items():
        if "suite" in case and "wrong" not in case:
            assert list(validator.iter_errors(yaml.safe_load(case["suite"]))) == [], name
    for name in ("top-keys", "test-field", "test-op", "pair-impl"):
        assert list(validator.iter_errors(yaml.safe_load(cases[name]["suite"]))), name


BOMB = "presets:\n  a0: &a0 {type: const, value: [1, 1, 1, 1]}\n" + "".join(
    f"  a{n}: &a{n} {{type: tuple, elems: [{', '.join([f'*a{n - 1}'] * 10)}]}}\n" for n in range(1, 9)
)
HOSTILE: dict[str, tuple[bytes, str]] = {
    "brackets": (b"tests: " + b"[" * 50_000, "nested deeper than 40 levels"),
    "braces": (b"tests: " + b"{a: " * 50_000, "nested deeper than 40 levels"),
    "dashes": (b"tests:\n" + b"- " * 50_000, "nested deeper than 40 levels"),
    "aliases": ((BOMB + "tests: []\n").encode(), "makes the suite larger than 5,000,000 values"),
    "own-alias": (b"tests: &a [*a]\n", "stands inside its own anchor"),
    "no-anchor": (b"tests: [*a]\n", "has no anchor before it"),
    "presets": (
        ("presets:\n  p0: {type: const, value: 1}\n" + "".join(
            f"  p{n}: {{type: tuple, elems: [{', '.join([f'{{ref: p{n - 1}}}'] * 10)}]}}\n" for n in range(1, 30)
        ) + "tests: []\n").encode(),
        "at most 100,000 are possible",
    ),
    "chain": (
        ("presets:\n" + "".join(f"  p{n}: {{ref: p{n + 1}}}\n" for n in range(3000)) + "  p3000: {type: int_list, elems: [1]}\n"
         "tests: []\n").encode(),
        "nested deeper than 40 nodes",
    ),
    "product": (
        ("tests: [{op: {type: template_module, path: torch.nn.ReLU, vars: {" + ", ".join(
            f"v{n}: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]" for n in range(12)) + "}}, in: []}]\n").encode(),
        "the suite has more than 200,000 tests",
    ),
    "many-variables": (
        ("tests: [{op: {type: template_module, path: torch.nn.ReLU, vars: {" + ", ".join(
            f"v{n}: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]" for n in range(9_000)) + "}}, in: []}]\n").encode(),
        "the suite has more than 200,000 tests",
    ),
    "large": (b"tests: []\n#" + b"x" * (64 << 20), "it has more than 16 MiB"),
    "binary": (bytes(range(256)), "the file is not UTF-8 text"),
    "nul": (b"tests: []\n#\0", ":2:2: the character U+0000 is not allowed"),
    "latin": (b"tests: []\n# \xe9\n", ":2:3: the file is not UTF-8 text"),
    "digits": (b"dims: {A: " + b"9" * 1_000_000 + b"}\ntests: []\n", "dims.A: a dimension is an integer"),
    "tag": (b"tests: !!python/object/apply:os.system ['true']\n", "the tag"),
    "key": (b"? [a]\n: b\ntests: []\n", "a key is a text"),
    "terminal": (b"tests: [{id: \"\\e[2J\", op: aten::relu, in: []}]\n", "control characters"),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_end_with_a_located_error(name: str, tmp_path: Path) -> None:
    content, message = HOSTILE[name]
    path = tmp_path / "s.yaml"
    path.write_bytes(content)
    with pytest.raises(InvalidSuite) as caught:
        load_suite([path])
    assert any(message in each.text for each in caught.value.problems), [each.text[:300] for each in caught.value.problems[:5]]
    assert all(each.line >= 1 and each.column >= 1 and len(each.text) < 2_000 for each in caught.value.problems)


def test_pipes_and_folders_are_no_suites(tmp_path: Path) -> None:
    for path in (Path("/dev/zero"), tmp_path, tmp_path / "absent.yaml"):
        with pytest.raises(InvalidSuite, match="the file cannot be"):
            load_suite([path])
