"""Each sentence of the OpiDiff format has its test here; the page on the format has a table of them.

After a change, `PYTHONPATH=tests python tests/unit/opidiff/test_opidiff_format.py` rewrites that table.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import yaml

from opera.extensions.opidiff.instances import Classes, objections
from opera.extensions.opidiff.nodes import ConstNode, ConstructNode, ListNode, OptionalNode, ScalarNode, TensorNode, TestCase, TupleNode
from opera.extensions.opidiff.problems import InvalidSuite
from opera.extensions.opidiff.suite import Suite, load_suite
from opera.instance import Distribution

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "reference" / "opidiff.md"
HEAD = "dims: {B: 2, N: 4}\npresets:\n  x: {type: tensor, shape: [B, N], kind: float}\n  y: {type: tensor, shape: [N], kind: float}\n"
FLOAT = "{type: tensor, shape: [2], dtype: float32}"
INTS = "{type: tensor, shape: [2], dtype: int64}"


def written(folder: Path, text: str, **others: str) -> Path:
    for name, content in others.items():
        (folder / f"{name}.yaml").write_text(content)
    path = folder / "suite.yaml"
    path.write_text(text)
    return path


def suite(folder: Path, text: str, **others: str) -> Suite:
    return load_suite([written(folder, text, **others)])


def complaints(folder: Path, text: str, **others: str) -> list[str]:
    """The errors, without the folder in the names of files."""
    with pytest.raises(InvalidSuite) as caught:
        suite(folder, text, **others)
    return [each.text.replace(f"{folder}/", "") for each in caught.value.problems]


@dataclass(frozen=True)
class Case:
    """A sentence of the format, and a suite.

    Attributes:
        sentence: What the format says.
        suite: A suite.
        input: Instead, the first input of a test.
        wrong: For each error, in order, its place in the suite or a part of its message; none for a valid suite.
        warns: The same for warnings.
        files: Other files, by name.
    """

    sentence: str
    suite: str = ""
    input: str = ""
    wrong: tuple[str, ...] = ()
    warns: tuple[str, ...] = ()
    files: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def text(self) -> str:
        return self.suite or f"{HEAD}tests:\n  - id: t\n    op: aten::eq\n    in:\n      - {self.input}\n"


def template(body: str, inputs: str = "[{ref: x}]", more: str = "") -> str:
    return f"{HEAD}tests:\n  - id: m{more}\n    op:\n      type: template_module\n      path: torch.nn.Linear\n{body}    in: {inputs}\n"


SENTENCES = Path(__file__).parents[2] / "golden" / "opidiff-sentences.yaml"
CASES = {name: Case(**row) for name, row in yaml.safe_load(SENTENCES.read_text()).items()}


@pytest.mark.parametrize("name", CASES)
def test_sentence(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    if case.wrong:
        expected, found = case.wrong, complaints(tmp_path, case.text, **case.files)
    else:
        expected, found = case.warns, [each.text for each in suite(tmp_path, case.text, **case.files).warnings]
    assert len(found) == len(expected), found
    for text, part in zip(found, expected, strict=True):
        assert part in text, text
        assert re.match(r"[\w./-]+\.yaml:\d+:\d+: ", text), text


def only(found: Suite) -> TestCase:
    [test] = found.tests
    return test


def inputs(folder: Path, text: str) -> tuple[object, ...]:
    return only(suite(folder, f"{HEAD}tests: [{{op: aten::eq, in: [{text}]}}]\n")).inputs


def ids(found: Suite) -> list[str]:
    return [each.id for each in found.tests]


def test_included_tests_come_first_and_in_order(tmp_path: Path) -> None:
    others = {name: f"tests: [{{id: {name}, op: aten::add, in: []}}]\n" for name in "ab"}
    assert ids(suite(tmp_path, "include: [b.yaml, a.yaml]\ntests: [{id: own, op: aten::add, in: []}]\n", **others)) == ["b", "a", "own"]


def test_a_file_that_is_reached_twice_is_loaded_once(tmp_path: Path) -> None:
    others = dict.fromkeys("ab", "include: c.yaml\ntests: []\n") | {"c": "dims: {B: 2}\ntests: [{id: c, op: aten::add, in: []}]\n"}
    assert ids(suite(tmp_path, "include: [a.yaml, b.yaml]\ntests: []\n", **others)) == ["c"]


def test_includes_are_relative_to_the_file_that_includes(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "b.yaml").write_text("tests: [{id: b, op: aten::add, in: []}]\n")
    assert ids(suite(tmp_path, "include: sub/a.yaml\ntests: []\n", **{"sub/a": "include: b.yaml\ntests: []\n"})) == ["b"]


def test_definitions_of_one_file_hold_in_the_others(tmp_path: Path) -> None:
    found = suite(
        tmp_path, "include: a.yaml\ndims: {B: 7}\ntests: []\n", a="tests: [{op: aten::eq, in: [{type: tensor, shape: [B], kind: int}]}]\n"
    )
    assert only(found).inputs == (TensorNode((7,), "int64", Distribution("randint", (0, 9))),)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-5", 1e-5), ("1E3", 1000.0), ("012", 12), ("0o14", 12), ("0x1F", 31), ("1:30", "1:30"), ("2026-01-01", "2026-01-01"),
        ("NO", "NO"), ("on", "on"), ("yes", "yes"), ("~", None), ("null", None), ("True", True), ("TRUE", True),
        ("-.inf", float("-inf")),
        ("1_000", "1_000"),
        ('"1"', "1"), ("+3", 3), (".5", 0.5), ("5.", 5.0), ("0b1", "0b1"), ("''", ""), ("- 1", "error"),
    ],
)  # fmt: skip
def test_scalars_are_those_of_the_core_schema(text: str, value: object, tmp_path: Path) -> None:
    if value == "error":
        assert complaints(tmp_path, f"tests: [{{op: aten::eq, in: [{{type: const, value: {text}}}]}}]\n")
    else:
        [node] = inputs(tmp_path, f"{{type: const, value: {text}}}")
        assert isinstance(node, ConstNode)
        assert (type(node.value), node.value) == (type(value), value)


@pytest.mark.parametrize(
    ("node", "drawn"),
    [
        ("kind: bool", Distribution("bernoulli", (0.5,))),
        ("kind: float", Distribution("normal", (0.0, 1.0))),
        ("dtype: complex64", Distribution("normal", (0.0, 1.0))),
        ("kind: int", Distribution("randint", (0, 9))),
        ("kind: float, init: uniform", Distribution("uniform", (0, 1))),
        ("kind: float, init: uniform, low: -1, high: B", Distribution("uniform", (-1, 2))),
        ("dtype: int8, low: 1.0, high: 3", Distribution("randint", (1, 3))),
        ("kind: float, mean: 3, std: 0", Distribution("normal", (3, 0))),
        ("kind: bool, p: 1", Distribution("bernoulli", (1,))),
        ("kind: int, init: ones", Distribution("ones")),
    ],
)
def test_the_distribution_follows_from_dtype_and_fields(node: str, drawn: Distribution, tmp_path: Path) -> None:
    [found] = inputs(tmp_path, f"{{type: tensor, shape: [B, N], {node}}}")
    assert isinstance(found, TensorNode)
    assert (found.shape, found.drawn) == ((2, 4), drawn)


def test_nodes_nest_and_literals_stand_in_constructors(tmp_path: Path) -> None:
    nodes = inputs(
        tmp_path, "{type: tuple, elems: [{type: list, len: 2, elem: {type: optional, elem: {type: scalar, kind: float, value: 2}}}]}"
    )
    assert nodes == (TupleNode((ListNode(2, OptionalNode(0.0, ScalarNode("float32", 2.0, None, None, 0.5))),)),)
    construct = (
        "{type: construct, path: torch.nn.Linear, args: [4, [1, {type: const, value: 3}], N], kwargs: {bias: false, m: {a: {ref: y}}}}"
    )
    [made] = inputs(tmp_path, construct)
    assert isinstance(made, ConstructNode)
    assert made.args == (ConstNode(4), ConstNode([1, 3]), ConstNode("N"))
    assert made.kwargs[0] == ("bias", ConstNode(False))


def test_a_constant_tensor_keeps_its_elements(tmp_path: Path) -> None:
    assert inputs(tmp_path, "{type: const_tensor, shape: [2, 1], kind: float, value: [[1], [.inf]]}") == (
        TensorNode((2, 1), "float32", None, (1.0, float("inf"))),
    )
    assert inputs(tmp_path, "{type: scalar_tensor, kind: bool, value: true}") == (TensorNode((), "bool", None, (True,)),)


def test_a_template_makes_the_product_of_its_variables(tmp_path: Path) -> None:
    body = "      vars: {in_features: [N], out_features: [3, 5], bias: [true, false]}\n"
    body += "      args: [{var: in_features}, {var: out_features}]\n      kwargs: {bias: {var: bias}}\n"
    found = suite(tmp_path, template(body))
    assert ids(found) == [f"m__bias={bias}__in_features=N__out_features={out}" for bias in ("True", "False") for out in (3, 5)]
    assert found.tests[1].op == ConstructNode("torch.nn.Linear", (ConstNode(4), ConstNode(5)), (("bias", ConstNode(True)),))


def test_cases_fix_what_they_name_and_the_other_variables_multiply(tmp_path: Path) -> None:
    body = "      vars: {size: [4, 8], preset: [x, y], out: [1, 2, 3]}\n      cases: [{size: 4, preset: x}, {size: 8, preset: y}]\n"
    body += "      args: [{var: size}, {var: out}]\n"
    found = suite(tmp_path, template(body, "[{ref: {var: preset}}]"))
    assert len(found.tests) == 6
    assert found.tests[0].id == "m__out=1__preset=x__size=4"
    assert {len(each.inputs[0].shape) for each in found.tests[3:]} == {1}


def test_variables_stand_in_paths_ids_lists_and_fields(tmp_path: Path) -> None:
    text = HEAD + (
        "tests:\n  - id: 'a {cls}'\n    op:\n      type: template_module\n      path: torch.nn.{cls}\n"
        "      vars: {cls: [ReLU, ELU], low: [-3], pad: [[1, N]]}\n"
        "      args: [[{var: pad}, [{var: cls}]]]\n    in: [{type: scalar, kind: int, low: {var: low}, high: 9}, {var: pad}]\n"
    )
    found = suite(tmp_path, text)
    assert ids(found) == ["a ReLU__cls=ReLU__low=-3__pad=_1___N__", "a ELU__cls=ELU__low=-3__pad=_1___N__"]
    assert found.tests[0].operator == "torch.nn.ReLU"
    assert found.tests[0].op == ConstructNode("torch.nn.ReLU", (ConstNode([[1, 4], ["ReLU"]]),))
    assert found.tests[0].inputs == (ScalarNode("int64", None, -3, 9, 0.5), ConstNode([1, 4]))


def test_a_variable_with_the_name_of_a_dimension_is_the_variable(tmp_path: Path) -> None:
    found = suite(tmp_path, template("      vars: {N: [7]}\n      args: [{var: N}, N]\n"))
    assert only(found).op == ConstructNode("torch.nn.Linear", (ConstNode(7), ConstNode("N")))


def test_values_in_ids_keep_letters_digits_and_dashes(tmp_path: Path) -> None:
    body = "      vars: {v: [0.5, 1e-5, 'a=b c', null, [true, 'x']]}\n      args: [{var: v}, 3]\n"
    assert [each.id for each in suite(tmp_path, template(body)).tests] == [
        "m__v=0_5", "m__v=1e-5", "m__v=a_b_c", "m__v=None", "m__v=_True___x__",
    ]  # fmt: skip


def test_tests_without_an_id_get_one(tmp_path: Path) -> None:
    text = "tests:\n  - {op: aten::add, in: []}\n  - {op: aten::mul, in: []}\n  - {id: template_3, op: aten::mul, in: []}\n"
    text += "  - {op: {type: template_module, path: torch.nn.ReLU, vars: {inplace: [true]}}, in: []}\n"
    assert ids(suite(tmp_path, text)) == ["template", "template_2", "template_3", "template__inplace=True"]


def test_a_template_without_variables_makes_one_test(tmp_path: Path) -> None:
    assert ids(suite(tmp_path, template("      vars: {}\n"))) == ["m"]


def test_a_pair_makes_two_tests_with_common_arguments(tmp_path: Path) -> None:
    text = HEAD + (
        "tests:\n  - id: p\n    op:\n      type: template_compare_pair\n      vars: {n: [8, 16]}\n"
        "      common: {args: [N, {var: n}], kwargs: {bias: true, k: 1}}\n"
        "      a: {impl: one, type: module, path: torch.nn.Linear}\n"
        "      b: {impl: two, path: 'file:m.py::My', args: [{var: n}], kwargs: {k: 2}}\n    in: [{ref: x}]\n"
    )
    found = suite(tmp_path, text)
    assert ids(found) == ["p__n=8__a", "p__n=8__b", "p__n=16__a", "p__n=16__b"]
    one, two = found.tests[:2]
    assert (one.pair, one.side, one.impl, two.impl) == ("p__n=8", "a", "one", "two")
    assert one.op == ConstructNode("torch.nn.Linear", (ConstNode("N"), ConstNode(8)), (("bias", ConstNode(True)), ("k", ConstNode(1))))
    assert two.op == ConstructNode("file:m.py::My", (ConstNode(8),), (("bias", ConstNode(True)), ("k", ConstNode(2))))
    assert one.inputs == two.inputs


def test_ids_of_different_assignments_may_not_meet(tmp_path: Path) -> None:
    assert "is used twice" in complaints(tmp_path, template("      vars: {v: [0.5, '0_5']}\n      args: [{var: v}, 1]\n"))[0]


def test_all_errors_are_listed_at_once_and_sorted_by_place(tmp_path: Path) -> None:
    text = "dims: {A: -1}\npresets: {p: {type: tensr}}\ntests:\n  - {id: t, op: aten::add, in: [1, {ref: q}], devise: cpu}\n"
    found = complaints(tmp_path, text)
    assert [":".join(each.split(":")[1:3]) for each in found] == ["1:11", "2:21", "4:33", "4:42", "4:47"]


def test_repeated_keys_and_ids_hide_no_other_error(tmp_path: Path) -> None:
    text = (
        "tests:\n  - id: a\n    op: aten::relu\n    op: aten::abs\n    in: [1]\n"
        "  - {id: a, op: aten::relu, in: [{type: tensor, shape: [Z], kind: float}]}\n"
    )
    found = complaints(tmp_path, text)
    assert [":".join(each.split(":")[1:3]) for each in found] == ["4:5", "5:10", "6:10", "6:57"]
    assert "the key 'op' stands twice" in found[0]
    assert "test a, aten::relu, id: the id 'a' is used twice, first in suite.yaml:2" in found[2]


def test_an_alias_of_a_test_repeats_its_id(tmp_path: Path) -> None:
    text = "tests:\n  - &t {id: a, op: aten::relu, in: [{type: tensor, shape: [2], kind: float}]}\n  - *t\n"
    assert "the id 'a' is used twice" in complaints(tmp_path, text)[0]


def test_nothing_is_imported_or_executed(tmp_path: Path) -> None:
    (tmp_path / "evil.py").write_text("raise SystemExit('executed')")
    of_file = f"{{op: {{type: module, path: 'file:{tmp_path}/evil.py::C'}}, in: []}}"
    found = suite(tmp_path, f"tests: [{of_file}, {{op: {{type: module, path: evil.C}}, in: []}}]\n")
    assert len(found.tests) == 2


@pytest.mark.parametrize("path", ["os.system", "subprocess.Popen", "torch.hub.load", "builtins.exec"])
def test_what_runs_programs_or_code_is_refused(path: str, tmp_path: Path) -> None:
    [found] = complaints(tmp_path, f"tests: [{{op: {{type: module, path: {path}}}, in: []}}]\n")
    assert path in found


_BEGIN, _END = "<!-- sentences -->\n", "<!-- end of sentences -->\n"


def table() -> str:
    """The table of the page."""
    rows = [f"| {case.sentence.replace('|', '/')} | `{name}` |" for name, case in CASES.items()]
    return "\n".join(["| sentence | test |", "|---|---|", *rows, ""])


def test_the_page_lists_the_sentences() -> None:
    assert PAGE.read_text().partition(_BEGIN)[2].partition(_END)[0].strip() == table().strip()


def test_the_other_tests_that_the_page_names_exist() -> None:
    named = re.findall(r"`([\w/]+/test_\w+\.py)::(test_\w+)`", PAGE.read_text())
    assert len(named) > 20
    for file, name in named:
        assert f"def {name}(" in (ROOT / "tests" / file).read_text(), name


@pytest.mark.parametrize("name", ["operators", "layers"])
def test_the_suites_of_the_project_are_valid(name: str) -> None:
    found = load_suite([ROOT / "corpora" / "suites" / f"{name}.yaml"])
    assert len(found.tests) > 50
    assert not found.warnings
    assert not [each.id for each in found.tests if objections(each, Classes())]


if __name__ == "__main__":
    before, _, rest = PAGE.read_text().partition(_BEGIN)
    PAGE.write_text(f"{before}{_BEGIN}\n{table()}\n{_END}{rest.partition(_END)[2]}")
