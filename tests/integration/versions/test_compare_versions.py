"""`opera compare --versions`: what each build of a compiler supports."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from fake.harness import Lab, instance

from opera.difftest.judge import Judgement
from opera.difftest.runner import TestCase
from opera.extensions.versions import confirm
from opera.extensions.versions.support import LOST, supports
from opera.oracles.verdict import Verdict
from opera.store.database import open_workspace


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    """A workspace with two builds of one compiler; the second one has also run an operator that the first has not."""
    made = Lab(tmp_path_factory.mktemp("versions"))
    made.add(instance("passes"), instance("raises", "raise"), instance("declines", "decline"))
    made.run("--build", "a")
    made.add(instance("newer"))
    made.run("--build", "b")
    return made


def test_each_version_is_compared_with_the_one_before(lab: Lab) -> None:
    done = lab.opera("compare", "--versions", "--json")
    assert done.code == 0, done.stderr
    (subject,) = done.json["subjects"]
    assert [(each["version"], each["right"], each["crash"], each["declined"]) for each in subject["versions"]] == [
        ("a", 1, 1, 1),
        ("b", 2, 1, 1),
    ]
    (change,) = subject["changes"]
    assert {name for name, counts in change.items() if counts} == {"before", "after"}, "the newer operator did not run on a"
    text = lab.opera("compare", "--versions").stdout
    assert "fake/fake: 4 tests, each version compared with the one before" in text
    assert "1 not run" in text


def test_two_versions_are_compared_and_written_as_notes(lab: Lab, tmp_path: Path) -> None:
    notes = tmp_path / "notes.md"
    done = lab.opera("compare", "--versions", "a", "b", "--markdown", str(notes))
    assert done.code == 0, done.stderr
    assert "broken: 0 tests" in done.stdout
    assert notes.read_text().startswith("# fake b on fake: changes since a\n")
    assert lab.opera("compare", "--versions", "--markdown", "-").stdout == notes.read_text()


def test_a_loss_that_does_not_happen_again_is_no_loss(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Lab(tmp_path)
    made.add(instance("lost"), instance("shaky"), instance("works"))
    made.run("--build", "a")
    with open_workspace(made.workspace, write=False) as space:
        (found,) = supports(space)
    tests = {case: letters + ("p" if case.api == "fake.works" else "w") for case, letters in found.tests.items()}
    two = replace(found, versions=(*found.versions, replace(found.versions[0], name="b")), tests=tests)
    asked: list[str] = []

    class Runner:
        """Gives what was seen before, but for one test on the later version."""

        def __init__(self, settings: object, config: str, scratch: Path) -> None:
            self.version = config

        def __enter__(self) -> Runner:
            return self

        def __exit__(self, *_: object) -> None: ...

        def run(self, case: TestCase) -> SimpleNamespace:
            asked.append(f"{case.instance.api} on {self.version}")
            fails = self.version == "b" and case.instance.api == "fake.lost"
            return SimpleNamespace(judgement=Judgement(Verdict.INCONSISTENT if fails else Verdict.PASS))

    monkeypatch.setattr(confirm, "TestRunner", Runner)
    with open_workspace(made.workspace, write=False) as space:
        sure = confirm.confirmed(space, two, lambda name: name, 0, 1, tmp_path)  # pyrefly: ignore
    assert {api: count for kind in LOST for api, count in two.changes(0, 1)[kind].items()} == {"fake.lost": 1, "fake.shaky": 1}
    assert {api: count for kind in LOST for api, count in sure.changes(0, 1)[kind].items()} == {"fake.lost": 1}
    assert sorted(asked) == ["fake.lost on a", "fake.lost on b", "fake.shaky on a", "fake.shaky on b"]


def test_of_several_settings_those_count_that_ran_last_on_two_versions(tmp_path: Path) -> None:
    made = Lab(tmp_path)
    made.add(instance("passes"), instance("raises", "raise"))
    for name in ("a", "b"):
        made.run("--build", name)
    for name in ("b", "c"):
        made.run("--build", name, "-k", "passes")
    done = made.opera("compare", "--versions", "--json")
    assert done.code == 0, done.stderr
    (subject,) = done.json["subjects"]
    assert [each["version"] for each in subject["versions"]] in (["a", "b"], ["b", "c"])  # all may have begun in one second
    assert made.opera("compare", "--versions", "--markdown", "-", "--exit-zero").code == 0


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("--versions", "a"), 2, "takes two versions, or none"),
        (("--versions", "a", "c"), 4, "no subject ran on a and c"),
        (("--versions", "--compiler", "tvm"), 4, "no subject ran on two versions"),
        (("a",), 2, "give two campaigns A and B"),
        (("a", "b", "--markdown", "x.md"), 2, "need --versions"),
        (("--versions", "--confirm"), 2, "--confirm needs two"),
        (("--versions", "--json", "--markdown", "-"), 2, "standard output"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(lab: Lab, arguments: tuple[str, ...], code: int, said: str) -> None:
    done = lab.opera("compare", *arguments)
    assert done.code == code
    assert said in done.stderr
