"""`opera compare --versions`: what each build of a compiler supports."""

from __future__ import annotations

from pathlib import Path

import pytest
from fake.harness import Lab, instance


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


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("--versions", "a"), 2, "takes two versions, or none"),
        (("--versions", "a", "c"), 4, "no subject ran on a and c"),
        (("--versions", "--compiler", "tvm"), 4, "no subject ran on two versions"),
        (("a",), 2, "give two campaigns A and B"),
        (("a", "b", "--markdown", "x.md"), 2, "go with --versions"),
        (("--versions", "--json", "--markdown", "-"), 2, "standard output"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(lab: Lab, arguments: tuple[str, ...], code: int, said: str) -> None:
    done = lab.opera("compare", *arguments)
    assert done.code == code
    assert said in done.stderr
