"""Exported suites: names, lines, the folder that OPERA owns, marks from results, and the comparison that suites carry along."""

from __future__ import annotations

import ast
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from opera.arrays import numpy_dtype
from opera.errors import UserError
from opera.extensions.suites.folder import MANIFEST, manifest_of, write_folder
from opera.extensions.suites.layout import lines_of
from opera.extensions.suites.names import family_of, module_name, name_of_test, operator_of
from opera.extensions.suites.plain import Style, header_of, packed
from opera.extensions.suites.refresh import outcomes_of, refresh
from opera.extensions.suites.shorter import apart, in_place, tidied
from opera.extensions.suites.statements import Store, folded, literal_array, longest_literal, parsed, without_literal
from opera.extensions.suites.tests import ascii_text, xfail
from opera.oracles.compare import Policy, compare
from opera.templates.python_text import array_text
from opera.testing import assert_matches

SETTINGS = {"style": "plain", "compiler": "tvm", "line_length": 88}


@pytest.mark.parametrize(
    ("api", "operator", "family"),
    [
        ("ai.onnx.MaxPool", "maxpool", "pool"),
        ("torch.nn.functional.conv2d", "conv2d", "conv"),
        ("torch.ops.aten.add.Tensor", "add", "other"),
        ("torch.linalg.inv", "inv", "linalg"),
        ("ai.onnx.ReduceSum", "reducesum", "reduce"),
        ("x.\u00e9\u00e8", "operator", "other"),
    ],
)
def test_names_come_from_the_operator(api: str, operator: str, family: str) -> None:
    assert (operator_of(api), family_of(api)) == (operator, family)
    assert name_of_test(api, "7265e8c08a727ad9") == f"test_{operator}_7265e8c0"
    assert name_of_test(api, "7265e8c08a727ad9").isidentifier()


def test_no_two_modules_share_a_name() -> None:
    assert module_name("tvm", "onnx", "conv", fails=True) != module_name("tvm", "onnx", "conv", fails=False)


SOURCE = '''
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
    def forward(self, x0):
        if x0:
            return 'a'
        else:
            return (1,)
try:
    y = 'it"s'
except ValueError:
    y = tuple((a for a in f((c for c in "\u00e9"))))
finally:
    z = """first
  second"""
    t = f"""a
{z} b"""
    q = "it\\n\\"\\"\\" s", "\\n\\\\", 'ends\\n"'
'''


@pytest.mark.parametrize("limit", [20, 40, 88])
def test_the_layout_changes_no_statement(limit: int) -> None:
    tree = ast.parse(SOURCE)
    text = "\n".join(lines_of(tree.body, limit))
    assert ast.dump(ast.parse(text)) == ast.dump(tree) == ast.dump(ast.parse(SOURCE))
    assert '"""first\n  second"""' in text
    assert "((" not in text


def test_packed_and_long_arrays_move_into_the_file() -> None:
    store = Store()
    array = np.arange(5000, dtype="float32")
    body = parsed(f"inputs = {array_text(array)}\nshort = np.array([[1.5, -2.0], [np.nan, np.inf]], np.float32)", store)
    np.testing.assert_array_equal(store.arrays["array0"], array)
    assert ast.unparse(body[0]) == "inputs = data['array0']"
    call = longest_literal(body)
    assert call is not None
    np.testing.assert_array_equal(literal_array(call), np.array([[1.5, -2], [np.nan, np.inf]], "float32"))
    body = without_literal(body, call, store)
    assert ast.unparse(body[1]) == "short = data['array1']"


@pytest.mark.parametrize("dtype", ["bfloat16", "int4", "float8_e4m3fn"])
def test_dtypes_that_numpy_lacks_are_kept_as_bytes(dtype: str) -> None:
    store = Store()
    array = np.array([1, 2, 3], numpy_dtype(dtype))
    text = ast.unparse(store.put(array, "x"))
    assert store.arrays["x"].dtype.kind == "u"
    again = eval(text, {"data": store.arrays, "ml_dtypes": __import__("ml_dtypes")})
    assert again.dtype == array.dtype
    assert again.tolist() == array.tolist()


def test_torch_literals_become_tensors_of_the_same_dtype() -> None:
    store = Store()
    body = parsed("inputs = (torch.tensor([True, False]), torch.tensor([1.0], dtype=torch.bfloat16))", store)
    while (call := longest_literal(body)) is not None:
        body = without_literal(body, call, store)
    assert ast.unparse(body[0]) == ("inputs = (torch.from_numpy(data['array1']), torch.from_numpy(data['array0']).to(torch.bfloat16))")
    assert store.arrays["array1"].dtype == np.bool_


def test_models_are_shown_without_what_every_test_would_repeat() -> None:
    text = """
class Model(torch.nn.Module):
    def forward(self, x0):
        return tuple(leaf for leaf in tree_leaves(torch.sort(x0)) if isinstance(leaf, torch.Tensor))
torch.manual_seed(0)
model = Model()
"""
    body, model = in_place(tidied(parsed(text, Store())))
    assert model == "Model()"
    assert "return tensors(torch.sort(x0))" in ast.unparse(body[0])
    assert len(body) == 1
    with_parameters = text.replace("    def forward", "    def __init__(self):\n        pass\n    def forward")
    assert "torch.manual_seed(0)" in ast.unparse(ast.Module(tidied(parsed(with_parameters, Store())), []))
    models, rest = apart(parsed(text, Store()), "test_sort_0123")
    assert isinstance(models[0], ast.ClassDef)
    assert models[0].name == "Model_0123"
    assert ast.unparse(rest[-1]) == "model = Model_0123()"


def test_text_of_an_onnx_model_is_broken_at_commas_outside_of_strings() -> None:
    (statement,) = ast.parse('model = onnx.parser.parse_model("""a (float[1] first, float[2] second) => (b) \n"x, y" z""")').body
    text = ast.unparse(folded(statement, 20))
    assert "first,\\n" in text
    assert '"x, y" z' in text


def test_a_model_of_onnx_breaks_between_nodes_and_numbers() -> None:
    numbers, long = ",".join(f"-0.{index}" for index in range(40)), "b" * 40
    head = f"g (float x) => (float y) <float[40] w = {{{numbers}}}> {{"
    text = f"<ir_version: 10>\n{head}\n  a = Add (x, w)  {long} = Mul (a, a)  y = Sub ({long}, x)\n}}"
    statement = ast.parse(f"model = onnx.parser.parse_model({text!r})").body[0]
    folded(statement, 60)
    (call,) = [each for each in ast.walk(statement) if isinstance(each, ast.Call)]
    again = ast.literal_eval(call.args[0])
    assert max(map(len, again.split("\n"))) <= 60
    assert "".join(again.split()) == "".join(text.split())
    assert f"\n      {long} = Mul (a, a)\n" in again


@pytest.mark.parametrize("target", ["", "llvm"])
@pytest.mark.parametrize("limit", [70, 88, 140])
def test_a_known_failure_has_its_whole_reason(limit: int, target: str) -> None:
    words = 'it says "no"\nand more ' + "x \u2265 1 " * 30
    lines = xfail("ValueError", "7265e8c08a727ad9", words, limit, target)
    assert max(map(len, lines)) <= limit
    (mark,) = [each for each in ast.walk(ast.parse("\n".join([*lines, "def test(): pass"]))) if isinstance(each, ast.Call)]
    reason = next(each.value for each in mark.keywords if each.arg == "reason")
    assert ast.literal_eval(reason) == "7265e8c0: it says 'no' and more " + "x >= 1 " * 29 + "x >= 1"


def test_foreign_text_stays_in_its_comment() -> None:
    assert ascii_text('a\n"""\\ \u202e\u2026') == "a '''/ ?..."


def test_an_npz_file_has_the_same_bytes_each_time() -> None:
    arrays = {"a": np.zeros(3), "b": np.array([b"x"])}
    assert packed(arrays) == packed(dict(reversed(arrays.items())))


@pytest.mark.parametrize("mark", ["a b", "a-b", "1", "\u00e9"])
def test_marks_are_names(mark: str) -> None:
    with pytest.raises(UserError, match="is no mark"):
        Style(marks=(mark,))


def test_a_header_becomes_comments() -> None:
    assert header_of("# SPDX\n\nLicensed\n") == "# SPDX\n#\n# Licensed"
    with pytest.raises(UserError, match="cannot be printed"):
        header_of("a\x1b[2J")


class TestFolder:
    """What OPERA writes, removes, and leaves alone."""

    def test_other_peoples_files_are_never_touched(self, tmp_path: Path) -> None:
        (tmp_path / "test_theirs.py").write_text("x")
        with pytest.raises(UserError, match="did not write"):
            write_folder(tmp_path, {"a.py": b"1"}, {}, SETTINGS)
        assert [each.name for each in tmp_path.iterdir()] == ["test_theirs.py"]

    def test_files_next_to_the_suite_stay(self, tmp_path: Path) -> None:
        write_folder(tmp_path, {"a.py": b"1", "old/b.py": b"2"}, {}, SETTINGS)
        (tmp_path / "theirs.py").write_text("x")
        write_folder(tmp_path, {"a.py": b"3"}, {}, SETTINGS)
        assert {str(each.relative_to(tmp_path)) for each in tmp_path.rglob("*")} == {"a.py", "theirs.py", MANIFEST}
        with pytest.raises(UserError, match=r"theirs\.py"):
            write_folder(tmp_path, {"theirs.py": b"4"}, {}, SETTINGS)
        assert (tmp_path / "theirs.py").read_text() == "x"
        assert (tmp_path / "a.py").read_bytes() == b"3"

    @pytest.mark.parametrize("files", [{"a.py": b"2"}, {"b.py": b"2"}])
    def test_a_changed_file_is_neither_overwritten_nor_removed(self, tmp_path: Path, files: dict[str, bytes]) -> None:
        write_folder(tmp_path, {"a.py": b"1"}, {}, SETTINGS)
        (tmp_path / "a.py").write_text("mine")
        with pytest.raises(UserError, match="changed since the last export"):
            write_folder(tmp_path, files, {}, SETTINGS)
        assert (tmp_path / "a.py").read_text() == "mine"
        assert not (tmp_path / "b.py").exists()

    def test_a_link_is_not_followed(self, tmp_path: Path) -> None:
        secret = tmp_path / "secret"
        secret.write_text("x")
        suite = tmp_path / "suite"
        write_folder(suite, {"a.py": b"1"}, {}, SETTINGS)
        (suite / "a.py").unlink()
        (suite / "a.py").symlink_to(secret)
        with pytest.raises(UserError):
            write_folder(suite, {"a.py": b"2"}, {}, SETTINGS)
        assert secret.read_text() == "x"

    @pytest.mark.parametrize(
        "text",
        ["", "[]", "{}", '{"schema": "suite/1"}', '{"schema": "suite/1", "files": {"../x": "0"}, "names": {}, "settings": {}}', "[" * 9000],
    )
    def test_a_damaged_manifest_is_one_message(self, tmp_path: Path, text: str) -> None:
        (tmp_path / MANIFEST).write_text(text)
        with pytest.raises(UserError, match="is damaged"):
            manifest_of(tmp_path)

    def test_a_file_is_no_folder(self, tmp_path: Path) -> None:
        (tmp_path / "x").write_text("")
        with pytest.raises(UserError, match="is a file"):
            write_folder(tmp_path / "x", {}, {}, SETTINGS)


MODULE = '''"""Known failures."""

import pytest

onnx = pytest.importorskip("onnx")
error = pytest.importorskip("tvm.error")
InternalError = error.InternalError


@pytest.mark.xfail(strict=True, raises=InternalError, reason="11111111")
def test_one_11111111(check_onnx):
    check_onnx(1)


@pytest.mark.xfail(
    strict=True, raises=ValueError, reason="22222222: a text that a person has wrapped"
)
def test_two_22222222(check_onnx):
    check_onnx(2)


def test_three_33333333(check_onnx):
    check_onnx(3)
'''


def case(name: str, inner: str = "") -> str:
    return f'<testcase classname="m" name="{name}">{inner}</testcase>'


def junit(folder: Path, *cases: str) -> Path:
    path = folder / "junit.xml"
    path.write_text(f"<testsuites><testsuite>{''.join(cases)}</testsuite></testsuites>")
    return path


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    folder = tmp_path / "suite"
    names = {"1" * 16: "test_one_11111111", "2" * 16: "test_two_22222222", "3" * 16: "test_three_33333333"}
    write_folder(folder, {"burn_down/test_a.py": MODULE.encode()}, names, SETTINGS)
    return folder


class TestRefresh:
    """Marks follow the results of a CI."""

    def module(self, suite: Path) -> str:
        text = (suite / "burn_down" / "test_a.py").read_text()
        ast.parse(text)
        return text

    def test_what_passes_now_loses_its_mark(self, suite: Path, tmp_path: Path) -> None:
        passed = case("test_one_11111111", '<failure message="[XPASS(strict)] 11111111"/>')
        done = refresh(suite, [junit(tmp_path, passed, case("test_two_22222222"))])
        assert done.removed == ("test_one_11111111", "test_two_22222222")
        text = self.module(suite)
        assert "xfail" not in text
        assert "InternalError" not in text
        assert "tvm.error" not in text
        assert refresh(suite, [junit(tmp_path, passed, case("test_two_22222222"))]).removed == ()

    def test_what_fails_now_gets_a_mark(self, suite: Path, tmp_path: Path) -> None:
        failure = '<failure message="onnxruntime.capi.state.Fail: [ERROR] &quot;no&quot;&#10;more">text</failure>'
        done = refresh(suite, [junit(tmp_path, case("test_three_33333333", failure))])
        assert done.added == ("test_three_33333333",)
        text = self.module(suite)
        assert '@pytest.mark.xfail(strict=True, raises=Fail, reason="33333333' in text
        assert 'state = pytest.importorskip("onnxruntime.capi.state")\nFail = state.Fail\n' in text

    def test_another_exception_changes_the_mark(self, suite: Path, tmp_path: Path) -> None:
        done = refresh(suite, [junit(tmp_path, case("test_two_22222222", '<failure message="KeyError"/>'))])
        assert done.changed == ("test_two_22222222",)
        text = self.module(suite)
        assert "raises=KeyError" in text
        assert "a person has wrapped" not in text

    @pytest.mark.parametrize("inner", ['<skipped type="pytest.xfail"/>', '<skipped type="pytest.skip"/>', '<error message="E: x"/>'])
    def test_results_that_say_nothing_change_nothing(self, suite: Path, tmp_path: Path, inner: str) -> None:
        refresh(suite, [junit(tmp_path, case("test_one_11111111", inner), case("test_three_33333333", inner))])
        assert self.module(suite) == MODULE

    def test_results_that_contradict_each_other_change_nothing(self, suite: Path, tmp_path: Path) -> None:
        both = case("test_three_33333333"), case("test_three_33333333", '<failure message="ValueError: x"/>')
        done = refresh(suite, [junit(tmp_path, *both, case("test_theirs"))])
        assert (done.unclear, done.unknown) == (("test_three_33333333",), 1)
        assert self.module(suite) == MODULE

    def test_a_refreshed_suite_can_be_exported_again(self, suite: Path, tmp_path: Path) -> None:
        refresh(suite, [junit(tmp_path, case("test_two_22222222"))])
        write_folder(suite, {"burn_down/test_a.py": b"new"}, {}, SETTINGS)

    @pytest.mark.parametrize("text", ["", "<a/>", "<testsuites>", "{}", '<!DOCTYPE x [<!ENTITY a "b">]><testsuites>&c;</testsuites>'])
    def test_a_file_that_is_no_junit_is_one_message(self, tmp_path: Path, text: str) -> None:
        (tmp_path / "x.xml").write_text(text)
        with pytest.raises(UserError, match="JUnit"):
            outcomes_of(tmp_path / "x.xml")

    def test_a_folder_without_a_plain_suite_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(UserError, match="no suite of the plain style"):
            refresh(tmp_path, [])
        write_folder(tmp_path / "native", {}, {}, {**SETTINGS, "style": "iree"})
        with pytest.raises(UserError, match="no suite of the plain style"):
            refresh(tmp_path / "native", [])

    @pytest.mark.parametrize("text", ["def (", "x = " + "-" * 200_000 + "1", "x = a" + ".b" * 100_000], ids=["syntax", "nested", "chain"])
    def test_a_module_that_is_no_python_any_more_is_one_message(self, suite: Path, tmp_path: Path, text: str) -> None:
        (suite / "burn_down" / "test_a.py").write_text(text)
        with pytest.raises(UserError, match="cannot be read as Python"):
            refresh(suite, [junit(tmp_path, case("test_two_22222222"))])


def test_the_manifest_keeps_names(tmp_path: Path) -> None:
    write_folder(tmp_path / "s", {"a": b""}, {"id": "test_x_id"}, SETTINGS)
    manifest = manifest_of(tmp_path / "s")
    assert manifest is not None
    assert manifest.names == {"id": "test_x_id"}
    assert json.loads((tmp_path / "s" / MANIFEST).read_text())["schema"] == "suite/1"


@pytest.mark.parametrize("name", ["test_x():\n    import os\ndef test_y", "", "test x", "a/b"])
def test_a_manifest_whose_names_would_become_code_is_damaged(tmp_path: Path, name: str) -> None:
    (tmp_path / MANIFEST).write_text(json.dumps({"schema": "suite/1", "files": {}, "names": {"id": name}, "settings": {}}))
    with pytest.raises(UserError, match="no name of a test"):
        manifest_of(tmp_path)


def test_a_folder_that_cannot_be_made_is_refused() -> None:
    with pytest.raises(UserError, match="cannot be made"):
        write_folder(Path("/proc/opera-suite"), {"README.md": b""}, {}, SETTINGS)


@pytest.mark.parametrize("there", ["link", "folder", "pipe"])
def test_links_folders_and_pipes_in_the_folder_are_not_opened(tmp_path: Path, there: str) -> None:
    suite = tmp_path / "s"
    write_folder(suite, {"README.md": b""}, {}, SETTINGS)
    if there == "link":
        (tmp_path / "elsewhere").mkdir()
        (suite / "green").symlink_to(tmp_path / "elsewhere")
    elif there == "pipe":
        (suite / "green").mkdir()
        os.mkfifo(suite / "green" / "a.py")
    else:
        (suite / "green" / "a.py").mkdir(parents=True)
    with pytest.raises(UserError, match=r"not OPERA's.*green/a\.py"):
        write_folder(suite, {"README.md": b"", "green/a.py": b"x"}, {}, SETTINGS)
    assert not (tmp_path / "elsewhere" / "a.py").exists()


NUMBERS = [0.0, -0.0, 1.0, 1.00001, 1.1, np.nan, np.inf, -np.inf, 1e30, -3.0]
DTYPES = ["float64", "float32", "float16", "bfloat16", "complex64", "int32", "bool", "uint8"]


@st.composite
def outputs(draw: st.DrawFn) -> list[Any]:
    """Lists of arrays, of nested lists, and of nothing."""
    found: list[Any] = []
    for _ in range(draw(st.integers(1, 2))):
        kind = draw(st.sampled_from(["array", "array", "array", "list", "none"]))
        if kind == "none":
            found.append(None)
            continue
        dtype = numpy_dtype(draw(st.sampled_from(DTYPES)))
        values = draw(st.lists(st.sampled_from(NUMBERS if dtype.kind not in "iub" else [0, 1, 2, 3]), min_size=1, max_size=3))
        with np.errstate(all="ignore"):
            array = np.array(values).astype(dtype)
        found.append([array] if kind == "list" else array)
    return found


@given(outputs(), outputs(), st.booleans())
def test_suites_compare_as_campaigns_do(expected: list[Any], other: list[Any], same: bool) -> None:
    actual = expected if same else other
    difference = compare(expected, None, actual, Policy({}))
    try:
        assert_matches(actual, expected)
    except AssertionError:
        assert difference is not None
    else:
        assert difference is None


@given(st.sampled_from(["float64", "float32", "float16"]), st.sampled_from([0.1, 0.5, 0.9, 1.1, 2.0, 50.0]), st.booleans())
def test_suites_compare_within_the_tolerance_of_campaigns(dtype: str, scale: float, precise: bool) -> None:
    relative = {"float64": 1e-7, "float32": 5e-4, "float16": 1e-2}[dtype]
    expected = np.array([100.0, -50.0], dtype)
    actual = (expected.astype("float64") * (1 + scale * relative)).astype(dtype)
    truth = expected.astype("float64") * (1 + relative / 10) if precise else None
    error = 0.0 if truth is None else float(np.abs(truth - expected).max())
    difference = compare([expected], None if truth is None else [truth], [actual], Policy({}))
    try:
        assert_matches([actual], [expected], own_error=error)
    except AssertionError:
        assert difference is not None
    else:
        assert difference is None
