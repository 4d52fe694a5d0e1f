"""Baselines and comparisons: a new bug never hides behind an old one, and what people wrote into the file stays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fake.harness import Lab, instance

from opera.errors import UserError
from opera.triage.baseline import Baseline
from opera.triage.known_failures import KnownFailure, match


def failure(fingerprint: str, *instances: str, converter: str = "Relu", kind: str = "ValueError") -> KnownFailure:
    return KnownFailure(fingerprint.ljust(16, "0"), "tvm", "onnx", "crash", "load", converter, kind, frozenset(instances))


def test_a_message_that_changes_with_the_version_is_the_same_bug() -> None:
    found = match([failure("a", "1", "2")], [failure("b", "1", "2")])
    assert [(old.fingerprint[0], new.fingerprint[0]) for old, new in found.changed] == [("a", "b")]
    assert not found.new
    assert not found.gone


@pytest.mark.parametrize(
    "other", [failure("b", "3", "4"), failure("b", "1", converter="Tanh"), failure("b", "1", kind="KeyError"), failure("b", "1", "3", "4")]
)
def test_a_new_bug_does_not_hide_behind_an_old_entry(other: KnownFailure) -> None:
    found = match([failure("a", "1", "2")], [other])
    assert found.new == (other,)


def test_an_entry_answers_for_one_failure_only() -> None:
    found = match([failure("a", "1", "2")], [failure("b", "1"), failure("c", "2")])
    assert len(found.changed) == 1
    assert len(found.new) == 1


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    made = Lab(tmp_path)
    made.add(instance("crashes", "raise"), instance("lies", "lie-value"), instance("works"))
    assert made.run().code == 1
    return made


def opera(lab: Lab, *arguments: str) -> Any:
    return lab.opera(*arguments)


def test_a_baseline_of_what_fails_is_clean(lab: Lab) -> None:
    file = str(lab.folder / "known.toml")
    assert opera(lab, "baseline", "update", file).code == 0
    outcome = opera(lab, "baseline", "check", file, "--json")
    assert outcome.code == 0
    assert outcome.json["clean"]
    assert outcome.json["known"] == 2


def test_a_failure_that_is_not_in_the_baseline_is_new(lab: Lab) -> None:
    file = str(lab.folder / "known.toml")
    opera(lab, "baseline", "update", file)
    lab.add(instance("dies", "abort"))
    outcome = lab.run("--baseline", file)
    assert (outcome.code, outcome.json["new_findings"], outcome.json["findings"]) == (1, 1, 3)
    checked = opera(lab, "baseline", "check", file, "--json")
    assert checked.code == 1
    assert [each["verdict"] for each in checked.json["new"]] == ["abort"]


def test_the_exit_code_of_a_run_follows_the_baseline(lab: Lab) -> None:
    file = str(lab.folder / "known.toml")
    opera(lab, "baseline", "update", file)
    outcome = lab.run("--baseline", file)
    assert (outcome.code, outcome.json["new_findings"]) == (0, 0)


def test_a_failure_that_is_gone_is_reported_unless_that_is_allowed(lab: Lab) -> None:
    file = lab.folder / "known.toml"
    opera(lab, "baseline", "update", str(file))
    known = Baseline(file)
    passing = next(each.instance[:12] for each in lab.stored() if each.verdict.value == "pass")
    text = file.read_text().replace(sorted(known.failures[0].instances)[0], passing).replace(known.failures[0].fingerprint, "0" * 16)
    file.write_text(text)
    outcome = opera(lab, "baseline", "check", str(file), "--json")
    assert outcome.code == 1
    assert [each["fingerprint"] for each in outcome.json["gone"]] == ["0" * 16]
    opera(lab, "baseline", "update", str(file))
    assert "0" * 16 not in file.read_text()


def test_what_was_not_tested_stays(lab: Lab) -> None:
    file = lab.folder / "known.toml"
    opera(lab, "baseline", "update", str(file))
    elsewhere = file.read_text().replace("fake/fake", "fake-started/fake").replace('fingerprint = "', 'fingerprint = "0')
    file.write_text(file.read_text() + "\n" + elsewhere.partition("\n")[2])
    outcome = opera(lab, "baseline", "check", str(file), "--json")
    assert outcome.code == 0
    assert len(outcome.json["untested"]) == 2
    opera(lab, "baseline", "update", str(file))
    assert file.read_text().count("fake-started/fake") == 2


def test_comments_order_and_further_keys_are_kept(lab: Lab) -> None:
    file = lab.folder / "known.toml"
    opera(lab, "baseline", "update", str(file))
    first, second = (part for part in file.read_text().split("[[failure]]")[1:])
    one = f"# mine\n\n[[failure]]  # the second first\n{second.strip()}\nnote = 'upstream'\n"
    edited = f"{one}\n# before the other\n[[failure]]\n{first.strip()}\n"
    file.write_text(edited)
    opera(lab, "baseline", "update", str(file))
    assert file.read_text() == edited


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[[failure]]\nfingerprint = 1\n", "fingerprint: Expected str"),
        ("failure = [", "not valid TOML"),
        ("[other]\n", "unknown field other"),
        ("[failure]\n", "not a baseline"),
        ("\udcff", "not valid TOML"),
    ],
)
def test_a_malformed_baseline_is_the_users_to_mend(tmp_path: Path, text: str, complaint: str) -> None:
    file = tmp_path / "known.toml"
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(UserError, match=complaint):
        Baseline(file)


def test_comparing_a_campaign_with_itself_finds_nothing(lab: Lab) -> None:
    campaign = opera(lab, "ls", "--json").json["campaigns"][0]["id"]
    outcome = opera(lab, "compare", campaign, campaign, "--json")
    assert outcome.code == 0
    assert not any(outcome.json[name] for name in ("new", "fixed", "changed", "flaky", "untested"))
    assert len(outcome.json["same"]) == 2


def test_comparing_with_a_lower_level_says_what_is_fixed_and_new(tmp_path: Path) -> None:
    one, other = Lab(tmp_path / "one"), Lab(tmp_path / "two")
    for lab in (one, other):
        lab.add(instance("optimised", "lie-optimised"), instance("always", "raise"))
    one.run(compiler="fake-levelled")
    other.run("--level", "plain", compiler="fake-levelled")
    forwards = opera(one, "compare", str(one.workspace), str(other.workspace), "--json")
    assert [len(forwards.json[name]) for name in ("new", "fixed", "same")] == [0, 1, 1]
    backwards = opera(one, "compare", str(other.workspace), str(one.workspace), "--json")
    assert [len(backwards.json[name]) for name in ("new", "fixed", "same")] == [1, 0, 1]
    assert backwards.code == 1
    assert opera(one, "compare", "ffff", "ffff").code == 2


def test_a_run_writes_its_reports_with_known_failures_apart(lab: Lab) -> None:
    file = str(lab.folder / "known.toml")
    opera(lab, "baseline", "update", file)
    lab.add(instance("dies", "abort"))
    forms = ("html", "junit", "sarif", "markdown")
    written = {form: lab.folder / f"report.{form}" for form in forms}
    outcome = lab.run("--baseline", file, *(word for form in forms for word in (f"--{form}", str(written[form]))))
    assert outcome.code == 1
    assert [len(written["junit"].read_text(encoding="utf-8").split(f"<{tag} ")) - 1 for tag in ("failure", "skipped")] == [1, 2]
    assert "<summary>2 known findings</summary>" in written["markdown"].read_text(encoding="utf-8")
    assert written["sarif"].read_text(encoding="utf-8").count('"accepted"') == 2
    assert "known: in known.toml" in written["html"].read_text(encoding="utf-8")


def test_update_says_what_the_file_has_now(lab: Lab) -> None:
    file = str(lab.folder / "known.toml")
    assert opera(lab, "baseline", "update", file).stdout.endswith(
        f"{file}: 0 known, 2 new, 0 undecided, 0 changed, 0 gone, 0 not tested\nwrote 2 failures\n"
    )
    assert opera(lab, "baseline", "check", file).stdout == f"{file}: 2 known, 0 new, 0 undecided, 0 changed, 0 gone, 0 not tested\n"
