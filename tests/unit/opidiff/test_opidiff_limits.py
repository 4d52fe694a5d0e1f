"""What a suite may read and what it may cost: includes stay in the suite's folder, and each loop over a file has a limit."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from parameters import quick

from opera.extensions.opidiff import fields, loading, suite, tree
from opera.extensions.opidiff.companion import companions
from opera.extensions.opidiff.instances import classes_of
from opera.extensions.opidiff.problems import InvalidSuite
from opera.extensions.opidiff.suite import load_suite
from opera.extensions.opidiff.tree import MOST_WORK, Budget
from opera.trust import Trust, Unfit

SECRET = "machine example.org login me password hunter2"


def problems(path: Path, content: str = "", *more: Path) -> list[str]:
    """The errors of a suite with this content."""
    if content:
        path.write_text(content)
    with pytest.raises(InvalidSuite) as caught:
        load_suite([path, *more])
    return [each.text for each in caught.value.problems]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "outside.yaml").write_text("presets: {x: {type: int_list, elems: [1]}}\ntests: []\n")
    (tmp_path / ".netrc").write_text(SECRET)
    made = tmp_path / "suite"
    (made / "sub").mkdir(parents=True)
    return made


@pytest.mark.parametrize(
    "target", ["/etc/passwd", "../.netrc", "../outside.yaml", "sub/../../outside.yaml", "link.yaml", "linked/outside.yaml"]
)
def test_an_include_outside_of_the_folder_is_refused_at_its_place_and_not_read(target: str, folder: Path) -> None:
    (folder / "link.yaml").symlink_to(folder.parent / "outside.yaml")
    (folder / "linked").symlink_to(folder.parent)
    (found,) = problems(folder / "s.yaml", f"include: [{target}]\ntests: []\n")
    assert found.startswith(f"{folder / 's.yaml'}:1:11: include: the file ")
    assert "lies outside of the suite's folder" in found
    assert "root:" not in found
    assert "hunter2" not in found


def test_a_file_of_a_subfolder_may_include_one_above_it_in_the_folder(folder: Path) -> None:
    (folder / "x.yaml").write_text("dims: {N: 2}\ntests: []\n")
    (folder / "sub" / "s.yaml").write_text("include: ../x.yaml\ntests: []\n")
    (folder / "s.yaml").write_text("include: sub/s.yaml\ntests: []\n")
    assert len(load_suite([folder / "s.yaml"]).files) == 3
    (found,) = problems(folder / "sub" / "s.yaml")
    assert "outside" in found


def test_a_file_that_the_user_names_too_may_be_included(folder: Path) -> None:
    (folder / "s.yaml").write_text("include: ../outside.yaml\ntests: [{id: a, op: aten::relu, in: [{ref: x}]}]\n")
    assert [each.id for each in load_suite([folder / "s.yaml", folder.parent / "outside.yaml"]).tests] == ["a"]


UNSUITED = {
    "text": SECRET,
    "mapping": "hunter2: me\nmore: [1]\n",
    "list": "- hunter2\n",
    "tag": "!hunter2 {}\n",
    "alias": "*hunter2\n",
    "own-alias": "&hunter2 [*hunter2]\n",
    "key-twice": "hunter2: 1\nhunter2: 2\n",
    "broken": "password: [hunter2\n",
    "broken-quote": "'hunter2",
    "binary": "hunter2\0",
    "escape": '"\\hunter2"',
    "documents": "a: 1\n---\nhunter2: 2\n",
    "directive": "%hunter2\n---\n",
}


@pytest.mark.parametrize("name", UNSUITED)
def test_messages_quote_nothing_of_an_included_file_that_is_no_suite(name: str, folder: Path) -> None:
    (folder / ".netrc").write_text(UNSUITED[name])
    found = problems(folder / "s.yaml", "include: .netrc\ntests: []\n")
    assert found
    assert all(each.startswith(f"{folder / '.netrc'}:") for each in found)
    assert not any("hunter" in each or "password" in each for each in found), found


def pipe(path: Path) -> None:
    os.mkfifo(path)


SPECIAL: dict[str, Callable[[Path], None]] = {"folder": Path.mkdir, "pipe": pipe, "device": lambda path: path.symlink_to("/dev/zero")}


@pytest.mark.parametrize("name", SPECIAL)
def test_an_include_that_is_no_regular_file_has_the_place_of_the_include(name: str, folder: Path) -> None:
    SPECIAL[name](folder / "x.yaml")
    (found,) = problems(folder / "s.yaml", "tests: []\ninclude:\n  - x.yaml\n")
    assert found.startswith(f"{folder / 's.yaml'}:3:5: include: the file ")


@pytest.mark.parametrize("name", SPECIAL)
def test_a_companion_that_is_no_regular_file_is_no_companion(name: str, folder: Path) -> None:
    SPECIAL[name](folder / "opidiff_companion.py")
    assert not companions(["file:opidiff_companion.py::Call"], [folder])


def test_a_source_that_is_no_regular_file_is_unfit(folder: Path) -> None:
    (folder / "mine.py").write_text("import other\nclass Mine: ...\n")
    trust = Trust((str(folder),), (str(folder),))
    assert trust.sources(["file:mine.py::Mine"]) == [folder / "mine.py"]
    (folder / "mine.py").unlink()
    os.mkfifo(folder / "mine.py")
    with pytest.raises(Unfit):
        trust.hash(["file:mine.py::Mine"])


def spent(monkeypatch: pytest.MonkeyPatch, path: Path, content: str) -> tuple[int, list[str]]:
    """The steps that a suite has taken, and its errors."""
    made: list[Budget] = []

    def budget() -> Budget:
        made.append(Budget())
        return made[-1]

    monkeypatch.setattr(suite, "Budget", budget)
    path.write_text(content)
    try:
        load_suite([path])
        found: list[str] = []
    except InvalidSuite as error:
        found = [each.text for each in error.problems]
    return MOST_WORK - made[0].work, found


HEAD = "tests:\n  - op: {type: template_module, path: torch.nn.ReLU, "
NUMBERS = ", ".join(map(str, range(100_000)))
TENSOR = "{type: tensor, shape: [1], kind: float}"
COSTLY = {
    "assignments of a large test": f"{HEAD}vars: {{a: [{NUMBERS}]}}}}\n    in: [{', '.join([TENSOR] * 500)}]\n",
    "a large value, often": f"{HEAD}vars: {{a: [[{NUMBERS}]]}}, args: [{', '.join(['{var: a}'] * 1_000)}]}}\n    in: []\n",
    "a large text in the suffix": f"{HEAD}vars: {{a: [{'x' * 100_000}], b: [{NUMBERS}]}}}}\n    in: []\n",
    "a large text in the path": (
        f"tests:\n  - op: {{type: template_module, path: 'torch.{'{a}' * 100_000}', vars: {{a: [{'x' * 100_000}]}}}}\n    in: []\n"
    ),
    "cases of many variables": (
        f"{HEAD}vars: {{{', '.join(f'v{n}: [0]' for n in range(5_000))}}}, cases: [{', '.join(['{v0: 1}'] * 5_000)}]}}\n    in: []\n"
    ),
    "lists of many tests": "presets: {l: {type: list, len: 90000, elem: {type: const, value: 1}}}\ntests:\n"
    + "  - {op: aten::relu, in: [{ref: l}]}\n" * 1_000,
    "lists in constructors": "presets: {l: {type: list, len: 90000, elem: {type: const, value: 1}}}\ntests:\n"
    f"  - {{op: {{type: module, path: torch.nn.ReLU, args: [{', '.join(['[{ref: l}]'] * 20)}]}}, in: []}}\n",
    "a literal, often": f"presets: {{l: {{type: const, value: [{NUMBERS}]}}}}\ntests:\n"
    f"  - {{op: aten::relu, in: [{', '.join(['{ref: l}'] * 1_000)}]}}\n",
    "elements, often": f"presets: {{l: {{type: const_tensor, shape: [100000], kind: int, value: [{NUMBERS}]}}}}\ntests:\n"
    f"  - {{op: aten::relu, in: [{', '.join(['{ref: l}'] * 1_000)}]}}\n",
    "empty lists of empty lists": "presets:\n  p0: {type: const, value: 1}\n"
    + "".join(
        f"  p{n}: {{type: tuple, elems: [{', '.join([f'{{type: list, len: 0, elem: {{ref: p{n - 1}}}}}'] * 20)}]}}\n" for n in range(1, 12)
    )
    + "tests: [{op: aten::relu, in: [{ref: p11}]}]\n",
    "optional values of optional values": "presets:\n  p0: {type: const, value: 1}\n"
    + "".join(
        f"  p{n}: {{type: tuple, elems: [{', '.join([f'{{type: optional, p_none: 1, elem: {{ref: p{n - 1}}}}}'] * 20)}]}}\n"
        for n in range(1, 12)
    )
    + "tests: [{op: aten::relu, in: [{ref: p11}]}]\n",
}


@pytest.mark.parametrize("name", quick(COSTLY, *list(COSTLY)[-2:]))
def test_what_costs_too_much_is_an_error_with_its_place(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = 0
    made = suite.TestCase

    def counted(*arguments: object) -> object:
        nonlocal calls
        calls += 1
        return made(*arguments)

    monkeypatch.setattr(suite, "TestCase", counted)
    _, found = spent(monkeypatch, tmp_path / "s.yaml", COSTLY[name])
    assert found
    assert all(f"{tmp_path / 's.yaml'}:" in each for each in found)
    assert any(each in found[0] for each in (f"takes more than {MOST_WORK:,} steps", "are possible", "4,000 characters")), found[0]
    assert calls < 1_000


def test_steps_grow_with_what_is_made_and_not_with_how_it_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def steps(tests: int) -> int:
        content = f"{HEAD}vars: {{a: [{', '.join(map(str, range(tests)))}]}}}}\n    in: [{TENSOR}]\n"
        cost, found = spent(monkeypatch, tmp_path / "s.yaml", content)
        assert not found
        return cost

    assert steps(100) * 8 < steps(1_000) < steps(100) * 12


@pytest.mark.slow
def test_many_errors_and_many_warnings_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compared = 0
    before = fields.nearest

    def counted(name: str, known: Iterable[str]) -> str:
        nonlocal compared
        compared += 1
        return before(name, known)

    monkeypatch.setattr(fields, "nearest", counted)
    warned = "".join(f"  - {{id: t{n}, op: 'aten::unknown{n}', in: []}}\n" for n in range(1_500))
    (tmp_path / "s.yaml").write_text(f"tests:\n{warned}")
    found = load_suite([tmp_path / "s.yaml"])
    assert (len(found.tests), len(found.warnings), compared) == (1_500, 1_000, fields.MOST_HINTS)
    assert len(problems(tmp_path / "e.yaml", "tests:\n" + "  - {op: aten::relu, in: [{ref: x}]}\n" * 3_000)) == 1_000
    shared = f"tests: [&a {{op: aten::relu, in: [{{ref: x}}]}}{', *a' * 20_000}]\n"
    assert len(problems(tmp_path / "a.yaml", shared)) == 1


def test_the_bytes_of_all_files_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree, "MOST_WORK", 100)
    monkeypatch.setattr(suite, "Budget", lambda: Budget(work=100))
    (tmp_path / "x.yaml").write_text(f"tests: []\n# {'x' * 500}\n")
    (tmp_path / "y.yaml").write_text(f"tests: []\n# {'x' * 500}\n")
    found = problems(tmp_path / "s.yaml", "include: [x.yaml, y.yaml]\ntests: []\n")
    assert any("too large together" in each for each in found)


def test_the_values_of_all_files_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suite, "Budget", lambda: Budget(left=1_000))
    (tmp_path / "x.yaml").write_text(f"presets: {{a: {{type: int_list, elems: [{'1, ' * 600}]}}}}\ntests: []\n")
    (tmp_path / "y.yaml").write_text(f"presets: {{b: {{type: int_list, elems: [{'1, ' * 600}]}}}}\ntests: []\n")
    load_suite([tmp_path / "x.yaml"])
    (found,) = problems(tmp_path / "s.yaml", "include: [x.yaml, y.yaml]\ntests: []\n")
    assert found.startswith(str(tmp_path / "y.yaml"))
    assert "values" in found


def test_classes_of_a_suite_are_found_in_as_many_steps_as_it_has_values(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text("tests: [{op: aten::relu, in: [{type: list, len: 0, elem: {type: int_list, elems: [1]}}]}]\n")
    assert not classes_of(load_suite([tmp_path / "s.yaml"])).companions
    assert loading.Problems().errors == 0
