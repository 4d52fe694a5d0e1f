"""`opera.testing` keeps each promise of RFC 0007: pytest runs small suites with the plug-in, in this process."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import opera.testing
from opera.testing.targets import kind_of, parse

pytest_plugins = ["pytester"]

FOLDER = Path(opera.testing.__file__).parent
CONFTEST = """
    import pytest
    def pytest_opera_targets(config):
        return ["llvm", "cuda -arch=sm_80", "vulkan"]
    def pytest_opera_kinds(config):
        return ["llvm", "cuda", "vulkan", "c"]
    def pytest_opera_device(target):
        return f"device of {target.split()[0]}"
    def pytest_opera_requirement(target):
        return "no such card" if target == "vulkan" else None
"""
HEAD = "import pytest\nimport opera.testing\n"


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """No variable of the environment chooses targets."""
    for name in ("OPERA_TEST_TARGETS", "TVM_TEST_TARGETS", "OPERA_TEST_DISABLE_CACHE", "TVM_TEST_DISABLE_CACHE"):
        monkeypatch.delenv(name, raising=False)


class Suite:
    """One module of tests below a conftest."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self.pytester = pytester
        pytester.makeconftest(CONFTEST)

    def run(self, text: str, *arguments: str) -> pytest.RunResult:
        """Runs the module, after the imports that all of them need."""
        self.pytester.makepyfile(test_it=HEAD + textwrap.dedent(text))
        given = ("-p", "opera.testing.plugin", "-p", "no:cacheprovider", "--strict-markers", "-W", "error", "-v", *arguments)
        return self.pytester.runpytest_inprocess(*given)


@pytest.fixture
def suite(pytester: pytest.Pytester) -> Suite:
    return Suite(pytester)


def outcomes(result: pytest.RunResult, **expected: int) -> None:
    """Fails unless these are all the outcomes."""
    assert result.parseoutcomes() == expected, result.stdout.str()


def names(result: pytest.RunResult) -> list[str]:
    """The tests that the report mentions, in its order."""
    found = (re.match(r"test_it\.py::(.*?) (PASSED|SKIPPED|FAILED|XFAIL|ERROR)", line) for line in result.outlines)
    return [match[1] for match in found if match is not None]


RFC = [
    (
        "a parameter is usable by all tests of its module, once for each value, named in the report",
        """
        size = opera.testing.parameter(8, 256)
        def test_it(size):
            assert size in (8, 256)
        def test_other(size): pass
        """,
        {"passed": 4},
        ["test_it[8]", "test_it[256]", "test_other[8]", "test_other[256]"],
    ),
    (
        "several parameters give all combinations",
        """
        size = opera.testing.parameter(8, 256, 1024)
        dtype = opera.testing.parameter("float32", "int32")
        def test_it(size, dtype): pass
        """,
        {"passed": 6},
        None,
    ),
    (
        "a parameter that is not declared is a NameError, also where it stands at module scope",
        """
        size = opera.testing.parameter(8)
        one, two = opera.testing.parameters((1, 2))
        @opera.testing.fixture(cache_return_value=True)
        def data(): return 1
        def test_broken():
            for name in ("size", "one", "two", "data"):
                with pytest.raises(NameError):
                    eval(name)
            with pytest.raises(NameError):
                size
        """,
        {"passed": 1},
        None,
    ),
    (
        "parameters vary together",
        """
        data, result = opera.testing.parameters(("a.dat", "a.txt"), ("b.dat", "b.txt"), ("c.dat", "c.txt"))
        def test_it(data, result):
            assert data[0] == result[0]
        def test_swapped(result, data):
            assert data.endswith("dat")
        def test_one(result): pass
        """,
        {"passed": 9},
        None,
    ),
    (
        "names in the order of the columns, whatever they are called, and a second group apart from the first",
        """
        b, a = opera.testing.parameters((1, 2), (3, 4))
        c, d = opera.testing.parameters((5, 6), (7, 8))
        def test_it(a, b, c, d):
            assert (b, a) in ((1, 2), (3, 4))
            assert (c, d) in ((5, 6), (7, 8))
        """,
        {"passed": 4},
        None,
    ),
    (
        "ids, by_dict and pytest.param name values and mark them",
        """
        size = opera.testing.parameter(8, 9, ids=["small", "large"])
        shape = opera.testing.parameter(by_dict={"flat": (4,), "deep": (2, 2)})
        x, y = opera.testing.parameters((1, 2), pytest.param(3, 4, marks=pytest.mark.skip(reason="later"), id="last"), ids=["first", None])
        def test_a(size): pass
        def test_b(shape): pass
        def test_c(x, y): pass
        """,
        {"passed": 5, "skipped": 1},
        ["test_a[small]", "test_a[large]", "test_b[flat]", "test_b[deep]", "test_c[first]", "test_c[last]"],
    ),
    (
        "parameters and cached fixtures stand in classes too",
        """
        class TestIt:
            size = opera.testing.parameter(1, 2)
            one, two = opera.testing.parameters((3, 4))
            calls = []
            @opera.testing.fixture(cache_return_value=True)
            def data(self, size):
                self.calls.append(size)
                return [size]
            def test_a(self, size, one, two, data):
                assert (one, two, data) == (3, 4, [size])
            def test_b(self, data): pass
            def test_c(self):
                assert sorted(self.calls) == [1, 2]
        """,
        {"passed": 5},
        None,
    ),
    (
        "a bare fixture is pytest's: computed for each test, and an error in it is one of set-up",
        """
        calls = []
        @opera.testing.fixture
        def data():
            calls.append(1)
            return 1
        @opera.testing.fixture()
        def broken():
            raise RuntimeError("no data")
        def test_a(data): pass
        def test_b(data): pass
        def test_count(): assert len(calls) == 2
        def test_broken(broken): pass
        """,
        {"passed": 3, "errors": 1},
        None,
    ),
    (
        "a cached fixture is computed once for each distinct input, whatever the order of the tests",
        """
        calls = []
        size = opera.testing.parameter(1, 2, 3)
        way = opera.testing.parameter("x", "y")
        @opera.testing.fixture(cache_return_value=True)
        def by_size(size):
            calls.append(("size", size))
            return size
        @opera.testing.fixture(cache_return_value=True)
        def by_way(way):
            calls.append(("way", way))
            return way
        def test_it(by_size, by_way): pass
        def test_other(way, by_size): pass
        def test_count(): assert len(calls) == len(set(calls)) == 5
        """,
        {"passed": 13},
        None,
    ),
    (
        "values that are equal and of other types are other inputs",
        """
        calls = []
        x = opera.testing.parameter(1, True, 1.0, 0.0, -0.0, "1", [1], (1,), {"a": 1}, None)
        @opera.testing.fixture(cache_return_value=True)
        def data(x):
            calls.append(x)
            return x
        def test_a(data): pass
        def test_b(data): pass
        def test_count(): assert len(calls) == 10
        """,
        {"passed": 21},
        None,
    ),
    (
        "every test gets a deep copy, the first included",
        """
        kept = {"inner": []}
        n = opera.testing.parameter(1, 2, 3)
        @opera.testing.fixture(cache_return_value=True)
        def data():
            return kept
        def test_it(n, data):
            assert data == {"inner": []}
            data["inner"].append(n)
        def test_the_original_is_untouched():
            assert kept == {"inner": []}
        """,
        {"passed": 4},
        None,
    ),
    (
        "an error of a cached fixture is not cached",
        """
        calls = []
        n = opera.testing.parameter(1, 2)
        @opera.testing.fixture(cache_return_value=True)
        def data():
            calls.append(1)
            if len(calls) == 1: raise RuntimeError("not yet")
            return 1
        def test_it(n, data): pass
        """,
        {"passed": 1, "errors": 1},
        None,
    ),
    (
        "a fixture may depend on parameters and on other fixtures",
        """
        size = opera.testing.parameter(1, 2)
        @opera.testing.fixture(cache_return_value=True)
        def data(): return [1, 2, 3]
        @opera.testing.fixture
        def plan(size): return ("plan", size)
        @opera.testing.fixture
        def expected(data): return sum(data)
        def test_it(data, expected, plan):
            assert expected == 6 and plan[1] in (1, 2)
        """,
        {"passed": 2},
        None,
    ),
    (
        "a fixture of pytest's with a wider scope may depend on a parameter and on a target",
        """
        calls = []
        class TestIt:
            size = opera.testing.parameter(1, 2)
            @pytest.fixture(scope="module")
            @staticmethod
            def kept(size, target):
                calls.append((size, target))
                return size
            def test_a(self, size, kept): assert size == kept
            @opera.testing.exclude_targets("vulkan")
            def test_b(self, kept): pass
        """,
        {"passed": 8, "skipped": 2},
        None,
    ),
    (
        "tests run in the order of their file",
        """
        ran = []
        size = opera.testing.parameter(1, 2)
        def test_b(size, target): ran.append(("b", size, target))
        def test_a(size): ran.append(("a", size))
        def test_order():
            assert [each[0] for each in ran] == ["b"] * 4 + ["a"] * 2
        """,
        {"passed": 7, "skipped": 2},
        None,
    ),
    (
        "pytest.mark.parametrize overrides a parameter, for fixtures that depend on it too",
        """
        size = opera.testing.parameter(1, 2)
        a, b = opera.testing.parameters((1, 2), (3, 4))
        @opera.testing.fixture(cache_return_value=True)
        def data(size): return [size]
        @pytest.mark.parametrize("size", [7, 8, 9])
        def test_it(size, data): assert data == [size] and size > 6
        @pytest.mark.parametrize("size", [7])
        def test_dependant(data): assert data == [7]
        @pytest.mark.parametrize("a, b", [(0, 0)])
        def test_group(a, b): assert a == b == 0
        """,
        {"passed": 5},
        None,
    ),
    (
        "target and dev are inputs of any test; a target that cannot run is listed as skipped",
        """
        def test_both(target, dev): assert dev == f"device of {target.split()[0]}"
        def test_dev(dev): pass
        """,
        {"passed": 4, "skipped": 2},
        [
            "test_both[llvm]",
            "test_both[cuda -arch=sm_80]",
            "test_both[vulkan]",
            "test_dev[llvm]",
            "test_dev[cuda -arch=sm_80]",
            "test_dev[vulkan]",
        ],
    ),
    (
        "an excluded target is not in the report",
        """
        @opera.testing.exclude_targets("llvm", "vulkan")
        def test_it(target, dev): assert target.startswith("cuda")
        @opera.testing.exclude_targets("llvm", "cuda", "vulkan")
        def test_none(target): pass
        """,
        {"passed": 1},
        ["test_it[cuda -arch=sm_80]"],
    ),
    (
        "a known failure of a target is expected, with its reason and exception",
        """
        @opera.testing.known_failing_targets("cuda", reason="no kernel", raises=AssertionError)
        def test_it(target): assert target == "llvm"
        @opera.testing.known_failing_targets("llvm", raises=KeyError)
        def test_other(target): assert target != "llvm"
        @opera.testing.known_failing_targets("llvm", "cuda", strict=True)
        def test_passes(target): pass
        """,
        {"passed": 2, "xfailed": 1, "skipped": 3, "failed": 3},
        None,
    ),
    (
        "parametrize_targets means exactly these; bare it changes nothing",
        """
        @opera.testing.parametrize_targets("cuda", "vulkan -x")
        def test_it(target): assert target in ("cuda", "vulkan -x")
        @opera.testing.parametrize_targets("cuda")
        def test_dev(dev): assert dev == "device of cuda"
        @opera.testing.parametrize_targets
        def test_bare(target): pass
        """,
        {"passed": 5, "skipped": 1},
        None,
    ),
    (
        "pytest.mark.parametrize gives targets too, with their marks, also beside other values and as tuples",
        """
        @pytest.mark.parametrize("target", ["llvm", "vulkan"])
        def test_it(target, dev): assert dev == "device of llvm"
        @pytest.mark.parametrize("target,n", [("llvm", 0), ("vulkan", 1)])
        def test_beside(target, n): assert n == 0
        @pytest.mark.parametrize(["n", "target"], [(0, "cuda"), (1, "vulkan")])
        @opera.testing.known_failing_targets("cuda")
        def test_list(target, n): assert n == 1
        @pytest.mark.parametrize("target", [("llvm", 1), ("vulkan", 2)])
        def test_tuple(target): assert target == ("llvm", 1)
        """,
        {"passed": 3, "skipped": 4, "xfailed": 1},
        None,
    ),
    (
        "enabled_targets, device_enabled and requirements answer while a module is imported",
        """
        assert opera.testing.enabled_targets() == [("llvm", "device of llvm"), ("cuda -arch=sm_80", "device of cuda")]
        assert opera.testing.device_enabled("cuda") and not opera.testing.device_enabled("vulkan") and not opera.testing.device_enabled("x")
        assert opera.testing.requirements("llvm") == []
        @pytest.mark.parametrize("n", [1, pytest.param(2, marks=opera.testing.requirements("vulkan"))])
        def test_it(n): assert n == 1
        """,
        {"passed": 1, "skipped": 1},
        None,
    ),
]


@pytest.mark.parametrize(("text", "expected", "listed"), [each[1:] for each in RFC], ids=[each[0] for each in RFC])
def test_the_rfc_holds(suite: Suite, text: str, expected: dict[str, int], listed: list[str] | None) -> None:
    result = suite.run(text)
    outcomes(result, **expected)
    assert listed is None or sorted(names(result)) == sorted(listed)


@pytest.mark.slow
def test_values_are_freed_after_their_last_user(suite: Suite) -> None:
    outcomes(
        suite.run("""
        import gc
        alive = []
        class Big:
            def __init__(self): alive.append(self); self.original = True
            def __deepcopy__(self, memo): return object.__new__(Big)
        n = opera.testing.parameter(1, 2)
        @opera.testing.fixture(cache_return_value=True)
        def data(n): return Big()
        def originals():
            alive.clear(); gc.collect()
            return [each for each in gc.get_objects() if type(each) is Big and "original" in vars(each)]
        def test_first(data): pass
        def test_between(n): assert len(originals()) in (1, 2)
        def test_last(data): pass
        def test_after(): assert originals() == []
        """),
        passed=7,
    )


def test_a_value_that_does_not_say_how_it_is_copied_is_a_type_error(suite: Suite) -> None:
    result = suite.run("""
        class Plain: pass
        class Reduces:
            def __reduce__(self): return (Reduces, ())
        class State:
            def __getstate__(self): return {}
        class Copies:
            def __deepcopy__(self, memo): return Copies()
        kind = opera.testing.parameter(Reduces, State, Copies, list, dict)
        @opera.testing.fixture(cache_return_value=True)
        def good(kind): return [kind()]
        @opera.testing.fixture(cache_return_value=True)
        def bad(): return {"inner": [Plain()]}
        @opera.testing.fixture(cache_return_value=True)
        def by_lambda(what): return 1
        @opera.testing.fixture
        def what(): return Plain().__class__("x") if False else open("/dev/null")
        def test_good(good): pass
        def test_bad(request):
            with pytest.raises(TypeError, match="'bad' gives a Plain, which does not say how it is copied"):
                request.getfixturevalue("bad")
        """)
    outcomes(result, passed=6)


BROKEN = [
    ("size = opera.testing.parameter()", "parameter needs at least one value"),
    ("size = opera.testing.parameter(1, by_dict={'a': 1})", "either values or by_dict"),
    ("a, b = opera.testing.parameters((1, 2), (3,))", "row 1 of parameters has 1 values, and row 0 has 2"),
    ("a, b = opera.testing.parameters(1, 2)", "1 is not a row of parameters"),
    ("opera.testing.parameters()", "at least one row"),
    ("@opera.testing.fixture(cache_return_value=True)\ndef data():\n    yield 1", "the cached fixture 'data' yields or awaits"),
    ("@opera.testing.fixture(cache_return_value=True)\nasync def data():\n    return 1", "yields or awaits"),
    ("@opera.testing.fixture(cache_return_value=True)\ndef data(request):\n    return 1", "takes 'request'"),
    ("@opera.testing.exclude_targets\ndef test_it(target): pass", "exclude_targets needs the names of targets"),
    ("@opera.testing.known_failing_targets()\ndef test_it(target): pass", "known_failing_targets needs the names of targets"),
]


@pytest.mark.parametrize(("text", "says"), BROKEN, ids=[each[1] for each in BROKEN])
def test_a_mistake_is_one_message_at_collection(suite: Suite, text: str, says: str) -> None:
    result = suite.run(text)
    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert says in result.stdout.str()
    assert "INTERNALERROR" not in result.stdout.str()


def test_an_argument_that_cannot_be_told_from_others_is_named(suite: Suite) -> None:
    result = suite.run("""
        @pytest.fixture
        def handle():
            with open(__file__) as file:
                yield file
        @opera.testing.fixture(cache_return_value=True)
        def data(handle): return 1
        def test_it(data): pass
        """)
    outcomes(result, errors=1)
    assert "cannot tell values of its argument 'handle' apart: TextIOWrapper cannot be pickled" in result.stdout.str()


def test_a_misspelt_target_in_a_decorator_is_a_warning(suite: Suite) -> None:
    result = suite.run("@opera.testing.exclude_targets('lvm')\ndef test_it(target): pass", "-W", "default")
    assert result.parseoutcomes()["passed"] == 2
    assert "exclude_targets names 'lvm' (did you mean 'llvm'?)" in result.stdout.str()


@pytest.mark.parametrize("variable", ["OPERA_TEST_TARGETS", "TVM_TEST_TARGETS"])
def test_the_environment_chooses_targets(suite: Suite, monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    suite.pytester.makeconftest("def pytest_opera_targets(config): return ['llvm', 'cuda', {'kind': 'opencl'}]")
    monkeypatch.setenv(variable, ' llvm -mcpu=x ; {"kind": "opencl", "name": "a;b"};; cuda;')
    result = suite.run("def test_it(target): pass")
    outcomes(result, passed=3)
    assert "test_it[llvm -mcpu=x]" in result.stdout.str()


@pytest.mark.parametrize("value", ["c", '{"kind": "c", "keys": ["x"]}', "CUDAExecutionProvider;c"])
def test_the_environment_may_name_any_kind_without_a_list_of_kinds(suite: Suite, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    suite.pytester.makeconftest("def pytest_opera_targets(config): return ['llvm']")
    monkeypatch.setenv("OPERA_TEST_TARGETS", value)
    marks = "@opera.testing.exclude_targets('metal')\n@opera.testing.known_failing_targets('vulkan')\n"
    result = suite.run(f"{marks}def test_it(target): assert target != 'llvm'")
    outcomes(result, passed=value.count(";") + 1)


def test_a_kind_that_is_not_among_the_defaults_is_no_error(suite: Suite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPERA_TEST_TARGETS", "c")
    outcomes(suite.run("def test_it(target): assert target == 'c'"), passed=1)


def test_marks_of_targets_select_tests(suite: Suite) -> None:
    suite.pytester.makeconftest(
        CONFTEST + "    def pytest_opera_marks(target): return [] if target == 'llvm' else [pytest.mark.gpu]\n"
        "    def pytest_configure(config): config.addinivalue_line('markers', 'gpu: needs a GPU')\n"
    )
    text = "def test_it(target): pass\n@pytest.mark.parametrize('target', ['llvm', 'cuda'])\ndef test_own(target): pass"
    result = suite.run(text, "-m", "gpu")
    outcomes(result, passed=2, skipped=1, deselected=2)
    assert names(suite.run(text, "-m", "not gpu")) == ["test_it[llvm]", "test_own[llvm]"]


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("lvm", "OPERA_TEST_TARGETS names 'lvm', which is no target (did you mean 'llvm'?)"),
        ("quantum", "which is no target; known are llvm, cuda, vulkan, c"),
        ('{"kind": ', "OPERA_TEST_TARGETS is malformed"),
    ],
)
def test_a_misspelt_target_in_the_environment_is_one_message(suite: Suite, monkeypatch: pytest.MonkeyPatch, value: str, says: str) -> None:
    monkeypatch.setenv("OPERA_TEST_TARGETS", value)
    result = suite.run("def test_it(target): pass")
    assert says in result.stdout.str()
    assert "Traceback" not in result.stdout.str() + result.stderr.str()
    assert result.ret == pytest.ExitCode.INTERRUPTED


@pytest.mark.parametrize(
    ("conftest", "says"),
    [
        ("", "no conftest says what a target is"),
        ("def pytest_opera_targets(config): 1 / 0", "pytest_opera_targets failed: ZeroDivisionError: division by zero"),
        ("def pytest_opera_targets(config): return 'llvm'", "return a list"),
        (
            "def pytest_opera_targets(config): return ['llvm']\ndef pytest_opera_requirement(target): raise KeyError('x')",
            "pytest_opera_requirement failed: KeyError",
        ),
    ],
)
def test_a_conftest_that_fails_is_one_message(suite: Suite, conftest: str, says: str) -> None:
    suite.pytester.makeconftest(conftest)
    result = suite.run("def test_it(target): pass")
    text = result.stdout.str() + result.stderr.str()
    assert says in text
    assert "INTERNALERROR" not in text
    assert "Traceback" not in text
    assert result.ret in (pytest.ExitCode.INTERRUPTED, pytest.ExitCode.USAGE_ERROR)


@pytest.mark.parametrize("variable", ["OPERA_TEST_DISABLE_CACHE", "TVM_TEST_DISABLE_CACHE"])
@pytest.mark.parametrize(("value", "calls"), [("1", 3), ("0", 1), ("", 1)])
def test_caching_can_be_switched_off(suite: Suite, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, calls: int) -> None:
    monkeypatch.setenv(variable, value)
    result = suite.run(f"""
        calls = []
        n = opera.testing.parameter(1, 2, 3)
        @opera.testing.fixture(cache_return_value=True)
        def data(): calls.append(1); return 1
        def test_it(n, data): pass
        def test_count(): assert len(calls) == {calls}
        """)
    outcomes(result, passed=4)


def test_a_switch_that_is_no_number_is_one_message(suite: Suite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPERA_TEST_DISABLE_CACHE", "yes")
    result = suite.run("def test_it(): pass")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "OPERA_TEST_DISABLE_CACHE='yes' is not an integer" in result.stderr.str()


def test_a_projects_own_target_wins_and_its_tests_stay_as_they_are(suite: Suite) -> None:
    result = suite.run("""
        @pytest.fixture(params=["vulkan", "x"])
        def target(request): return request.param
        @opera.testing.exclude_targets("vulkan")
        def test_it(target): assert target in ("vulkan", "x")
        def test_c(): pass
        @pytest.mark.filterwarnings("ignore")
        def test_a(): pass
        """)
    outcomes(result, passed=4)
    assert names(result) == ["test_it[vulkan]", "test_it[x]", "test_c", "test_a"]


def test_the_nearest_conftest_decides(pytester: pytest.Pytester) -> None:
    suite = Suite(pytester)
    pytester.mkpydir("below")
    pytester.path.joinpath("below", "conftest.py").write_text("def pytest_opera_targets(config): return ['other']\n")
    pytester.path.joinpath("below", "test_below.py").write_text("def test_below(target): assert target == 'other'\n")
    result = suite.run("def test_it(target): assert target != 'other'")
    outcomes(result, passed=3, skipped=1)


def test_without_the_plug_in_nothing_is_there(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_it(target): pass")
    result = pytester.runpytest_inprocess()
    outcomes(result, errors=1)
    assert "fixture 'target' not found" in result.stdout.str()
    with pytest.raises(RuntimeError, match="is not loaded; run pytest with -p"):
        opera.testing.enabled_targets()


@pytest.mark.parametrize("selection", [("test_it.py::test_it[1024]",), ("-k", "1024"), ("--collect-only",), ("--import-mode=importlib",)])
def test_single_tests_can_be_chosen(suite: Suite, selection: tuple[str, ...]) -> None:
    result = suite.run("size = opera.testing.parameter(8, 1024)\ndef test_it(size): pass", *selection)
    assert result.ret == 0
    assert "1024" in result.stdout.str()


def test_a_test_that_runs_again_finds_its_cached_value(suite: Suite) -> None:
    """What pytest-rerunfailures does: the protocol of one test has several runs."""
    suite.pytester.makeconftest("""
        from _pytest.runner import runtestprotocol
        def pytest_runtest_protocol(item, nextitem):
            for _ in range(2):
                reports = runtestprotocol(item, nextitem=nextitem, log=False)
            for report in reports:
                item.ihook.pytest_runtest_logreport(report=report)
            return True
        """)
    result = suite.run("""
        calls = []
        @opera.testing.fixture(cache_return_value=True)
        def data(): calls.append(1); return 1
        def test_it(data): pass
        def test_count(): assert len(calls) == 1
        """)
    outcomes(result, passed=2)


@pytest.mark.parametrize("how", ["load", pytest.param("loadfile", marks=pytest.mark.slow)])
def test_spread_over_processes_every_process_computes_once_and_frees(suite: Suite, how: str) -> None:
    result = suite.run(
        """
        import os
        calls = []
        n = opera.testing.parameter(*range(6))
        @opera.testing.fixture(cache_return_value=True)
        def data(): calls.append(1); return [1]
        def test_it(n, data): assert len(calls) == 1
        """,
        "-n", "2", "--dist", how,
    )  # fmt: skip
    outcomes(result, passed=6)


def test_the_package_needs_pytest_and_the_standard_library_only() -> None:
    for path in FOLDER.glob("*.py"):
        needed = {"numpy"} if path.name == "matching.py" else {"pytest", "pluggy"}  # pytest itself stands on pluggy
        allowed = {*sys.stdlib_module_names, *needed, ""}
        tree = ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 10))
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                assert {alias.name.split(".")[0] for alias in node.names} <= allowed
            elif isinstance(node, ast.ImportFrom):
                assert node.level or str(node.module).split(".")[0] in allowed, (path, node.module)
        private = "_pytest" in path.read_text(encoding="utf-8") or "._fixturemanager" in path.read_text(encoding="utf-8")
        assert private is (path.name == "internals.py")


@pytest.mark.parametrize(
    ("target", "kind"),
    [("llvm -mcpu=x", "llvm"), ({"kind": "cuda", "arch": 1}, "cuda"), (("vulkan", object()), "vulkan"), ("", ""), (7, "7")],
)
def test_targets_are_compared_by_kind(target: object, kind: str) -> None:
    assert kind_of(target) == kind


def test_targets_are_separated_by_semicolons() -> None:
    assert parse("") == parse(" ; ;") == []
    assert parse('a; b c ;{"kind": "x;y"} ; d') == ["a", "b c", {"kind": "x;y"}, "d"]
    with pytest.raises(ValueError, match="after an object"):
        parse('{"kind": "x"} y')


@pytest.mark.slow
@pytest.mark.parametrize("version", ["8.0.2", "8.1.2", "8.2.2", "8.3.5", "8.4.2", "9.0.3", "9.1.1"])
def test_it_holds_under_other_versions_of_pytest(tmp_path: Path, version: str) -> None:
    """The current version is that of every other test here."""
    python = tmp_path / "env" / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "env")], check=True)
    subprocess.run(
        [str(python), "-m", "pip", "install", "--quiet", f"pytest=={version}", "pytest-xdist"], check=True, stderr=subprocess.DEVNULL
    )
    command = [str(python), "-m", "pytest", "-q", "-c", "/dev/null", "--rootdir", str(tmp_path), "--noconftest", "-p", "no:cacheprovider"]
    run = subprocess.run(
        [*command, "-k", "not other_versions", str(Path(__file__))],
        env={**os.environ, "PYTHONPATH": str(FOLDER.parents[1])},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout[-3000:]
