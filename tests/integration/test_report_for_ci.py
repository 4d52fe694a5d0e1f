"""JUnit XML, SARIF and Markdown: what a CI system reads, whatever a compiler wrote into its messages."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from fake.harness import Lab, instance
from sarif import objections

NAMES = {"works": "pass", "crashes": "raise", "lies": "lie-value", "dies": "abort", "speaks": "unicode", "fills": "megabyte"}


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    made = Lab(tmp_path_factory.mktemp("ci"))
    made.add(*(instance(name, behaviour) for name, behaviour in NAMES.items()))
    made.run()
    return made


def written(lab: Lab, form: str) -> str:
    file = lab.folder / f"report.{form}"
    assert lab.opera("report", f"--{form}", str(file)).code == 0
    return file.read_text(encoding="utf-8")


def test_junit_has_a_case_per_operator_and_finding(lab: Lab) -> None:
    root = ElementTree.fromstring(written(lab, "junit"))
    cases = {str(case.get("name")).partition(" ")[0]: [failure.get("type") for failure in case] for case in root.iter("testcase")}
    assert cases["fake.works"] == []
    assert cases["fake.crashes"] == ["crash"]
    assert cases["fake.dies"] == ["abort"]
    failures = {str(each.get("name")).partition(" ")[0]: each[0] for each in root.iter("testcase") if len(each)}
    assert str(failures["fake.lies"].get("message")).startswith("fake.lies: wrong result: expected ")
    assert "in an unknown converter" not in ElementTree.tostring(root, encoding="unicode")
    assert "opera_fake/behaviour.py:77 in _raise" in str(failures["fake.crashes"].text), "the whole evidence, with its frames"
    (suite,) = root
    assert (suite.get("tests"), suite.get("failures")) == (str(len(NAMES)), str(len(NAMES) - 1))


def test_sarif_has_a_result_per_finding_with_a_fingerprint(lab: Lab) -> None:
    document = json.loads(written(lab, "sarif"))
    assert document["version"] == "2.1.0"
    (run,) = document["runs"]
    report = lab.opera("report", "--json").json
    assert [each["partialFingerprints"]["opera/v1"] for each in run["results"]] == [each["id"] for each in report["findings"]]
    assert {each["ruleId"] for each in run["results"]} == {each["id"] for each in run["tool"]["driver"]["rules"]}
    assert max(len(each["message"]["text"]) for each in run["results"]) < 2000


def test_github_takes_the_sarif(lab: Lab) -> None:
    document = json.loads(written(lab, "sarif"))
    assert list(objections(document)) == []
    results = document["runs"][0]["results"]
    assert len(results) == len(NAMES) - 1
    for result in results:
        name = result["partialFingerprints"]["opera/v1"]
        assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == f"ws/reproducers/{name}.py"
    (lie,) = [each["message"]["text"] for each in results if each["ruleId"] == "inconsistent"]
    assert lie.startswith("fake/fake: fake.lies: wrong result: expected ")


def test_a_file_that_github_refuses_is_refused(lab: Lab) -> None:
    document = json.loads(written(lab, "sarif"))
    location = document["runs"][0]["results"][0]["locations"][0]
    del location["physicalLocation"]
    assert list(objections(document)) == ["expected a physical location"]


def test_markdown_is_a_table_in_which_nothing_foreign_is_markup(lab: Lab) -> None:
    lines = written(lab, "markdown").splitlines()
    rows = [line for line in lines if line.startswith("| `")]
    assert len(rows) == len(NAMES) - 1
    assert all(row.replace("\\|", "").count("|") == 6 for row in rows)
    assert any("| fake.lies: wrong result | expected " in row.replace("`", "") for row in rows)
    assert not any("<script" in line for line in lines)


def test_a_report_that_cannot_be_written_leaves_nothing(lab: Lab, tmp_path: Path) -> None:
    folder = tmp_path / "there"
    folder.mkdir()
    outcome = lab.opera("report", "--junit", str(folder))
    assert outcome.code == 2
    assert list(folder.iterdir()) == []
