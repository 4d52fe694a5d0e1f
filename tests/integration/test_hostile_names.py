"""Every command that prints, on a workspace whose names and messages attack the terminal and the formats."""

from __future__ import annotations

import csv
import fcntl
import io
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from fake.harness import SITE, Lab, Outcome, instance
from shown import ATTACKS, is_safe

from opera.cli import command
from opera.cli.extract import show
from opera.cli.matrix import _inert
from opera.cli.options import guarded
from opera.extensions.research.cli import equipped
from opera.extract import SourceSummary
from opera.instance import Occurrence
from opera.store import Campaigns, Corpus
from opera.store.database import open_workspace

MARKUP = {
    "rich": "[/red][link=file:///etc/passwd]x[/link]", "html": "</script><script>alert(1)</script><!--", "cdata": "]]>&lt;<x a='\"'>",
    "markdown": "a|b\\|c `d` ``` ```` [e](javascript:alert(1)) <!-- @user #123 GH-7 https://evil.example ~~~",
    "formula": "=HYPERLINK(\"http://evil\")", "line": "x\nopera: all is well", "tab": "\t=1+1",
}  # fmt: skip
NAMES = {name: text for name, text in {**ATTACKS, **MARKUP, "longest": "y" * 990}.items() if name != "surrogate"}
"""A database holds no lone surrogate."""


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    made = Lab(tmp_path_factory.mktemp("hostile"))
    behaviours = ["raise", "lie-value", "pass"]
    with open_workspace(made.workspace, write=True) as space:
        for index, text in enumerate(NAMES.values()):
            Corpus(space).add([(instance(text, behaviours[index % 3]), Occurrence(f"source {text[:99]}", f"test {text}"))])
    ran = made.opera("--compiler", "fake", "--frontend", "fake", "-j", "2", "--exit-zero", module="opera.run")
    assert ran.code == 0, ran.stderr[-2000:]
    check(ran)
    return made


def check(outcome: Outcome) -> Outcome:
    """Asserts that a terminal that shows *outcome* does nothing else, and that it is no flood."""
    for text in (outcome.stdout, outcome.stderr):
        assert is_safe(text), repr(next(line for line in text.splitlines() if not is_safe(line)))[:500]
        assert len(text) < 400_000
        assert "\nopera: all is well" not in text or text.startswith("<!DOCTYPE html>")  # where lines mean nothing
    assert "Traceback" not in outcome.stderr, outcome.stderr[-2000:]
    return outcome


def opera(lab: Lab, *arguments: str) -> Outcome:
    return check(lab.opera(*arguments))


def ids(lab: Lab) -> dict[str, list[str]]:
    """What `opera show` can show."""
    with open_workspace(lab.workspace, write=False) as space:
        results = list(Campaigns(space).results())
    return {
        "finding": sorted({each.fingerprint for each in results if each.fingerprint}), "test": [each.test for each in results],
        "instance": [each.instance for each in results],
    }  # fmt: skip


COMMANDS = [
    ("prioritize", "--compiler", "fake", "--frontend", "fake", "--show", "100"), ("top", "--once"), ("top", "--once", "--operators", "100"),
    ("report", "--all"), ("report", "--markdown", "-"), ("report", "--junit", "-"), ("report", "--sarif", "-"), ("report", "--html", "-"),
    ("matrix",), ("matrix", "--csv", "-"), ("ls", "--operators"), ("ls", "--test", "*"), ("replay", "--lib", "fake", "-j", "2"),
    ("evaluate", "--seeds", "1", "-j", "1"), ("doctor", "--compiler", "fake"), ("config", "show"),
    ("triage", "--limit", "3", "--budget", "2s", "-j", "2"),
    ("baseline", "update", "known.toml"), ("baseline", "check", "known.toml"),
]  # fmt: skip


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_what_a_command_prints_is_safe(lab: Lab, arguments: tuple[str, ...]) -> None:
    assert opera(lab, *arguments).code == 0


IN_JSON = [each for each in COMMANDS if "-" not in each and each[0] not in ("baseline", "doctor", "replay", "triage")]


@pytest.mark.parametrize("arguments", IN_JSON, ids=" ".join)
def test_what_a_command_says_in_json_is_safe_too(lab: Lab, arguments: tuple[str, ...]) -> None:
    outcome = lab.opera(*arguments, "--json")
    assert outcome.code == 0, outcome.stderr[-2000:]
    assert is_safe(outcome.stdout)
    assert outcome.stdout.isascii()
    assert outcome.json["schema"]


def test_names_are_lossless_in_json(lab: Lab) -> None:
    cells = lab.opera("matrix", "--json").json["cells"]
    assert {each["operator"] for each in cells} == {f"fake.{text}" for text in NAMES.values()}


@pytest.mark.parametrize("kind", ["finding", "test", "instance"])
def test_what_is_shown_of_one_thing_is_safe(lab: Lab, kind: str) -> None:
    for name in ids(lab)[kind][:8]:
        assert opera(lab, "show", name).code == 0
    assert opera(lab, "show", name, "--json").json


def test_issues_scripts_and_comparisons_are_safe(lab: Lab) -> None:
    for name in ids(lab)["finding"][:4]:
        assert opera(lab, "issue", name, "--no-run").code == 1  # there is no template for a script
        assert opera(lab, "reproduce", name, "--no-run").code == 2
    with open_workspace(lab.workspace, write=False) as space:
        campaign = Campaigns(space).all()[0].id
    assert opera(lab, "compare", campaign, campaign).code == 0
    corpus = lab.folder / "corpus.jsonl"
    assert opera(lab, "export", "jsonl", str(corpus)).code == 0
    assert opera(lab, "diff", str(corpus), str(lab.workspace)).code == 0
    nothing = lab.folder / "nothing.jsonl"
    nothing.write_text('{"schema": "corpus/1", "instances": 0}\n')
    assert opera(lab, "diff", str(nothing), str(corpus), "--limit", "100").code == 0
    other = Lab(lab.folder / "other")
    broken = lab.folder / "broken.jsonl"
    lines = corpus.read_text().splitlines()
    broken.write_text("\n".join([lines[0], *(line[:-40] for line in lines[1:]), *lines[1:]]))
    assert opera(other, "import", str(broken)).code == 0
    assert opera(other, "combine", str(lab.workspace)).code == 0


TYPED = [text for name, text in NAMES.items() if "\0" not in text and name != "longest"]


@pytest.mark.parametrize(
    "arguments",
    [("show", "{}"), ("ls", "--lib", "{}"), ("report", "--campaign", "{}"), ("{}",), ("top", "{}"), ("ls", "-k", "({}"), ("ls", "--{}")],
)
def test_what_was_typed_is_safe_when_it_is_said_back(lab: Lab, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]) -> None:
    for attack in TYPED:
        code = guarded(command, [*(each.format(attack) for each in arguments), "--workspace", str(lab.workspace)])
        captured = capsys.readouterr()
        check(Outcome(code, captured.out, captured.err))
        assert code == 2


def test_counts_of_other_tools_are_printed_safely(capsys: pytest.CaptureFixture[str]) -> None:
    for text in NAMES.values():
        equipped._print(counts={text: 1}, settings={text: 1}, tests={text: 1})
        show(text[:100], 1, 1, [SourceSummary(text, 1, 1, 1, {text: 2}, (), 1.0, text)])
    captured = capsys.readouterr()
    assert is_safe(captured.out + captured.err)


@pytest.mark.parametrize(
    "arguments", [("top",), ("run", "--compiler", "fake", "--frontend", "fake", "-j", "1", "--exit-zero", "--seed", "1")]
)
def test_a_live_table_obeys_nothing_but_ourselves(lab: Lab, arguments: tuple[str, ...]) -> None:
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 150, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-m", "opera", *arguments, "--workspace", str(lab.workspace)], cwd=lab.folder, stdin=follower, stdout=follower,
        stderr=follower, env={**os.environ, "PYTHONPATH": str(SITE), "OPERA_FAKE_STATE": str(lab.state), "TERM": "xterm-256color"},
        start_new_session=True,
    )  # fmt: skip
    os.close(follower)
    shown = b""
    while True:
        try:
            shown += os.read(leader, 65536)
        except OSError:
            break
    os.close(leader)
    assert process.wait() == 0
    text = shown.decode()
    assert re.search(r"\x1b\[[0-9;]*m", text), "our own colours are there"
    assert is_safe(re.sub(r"\x1b\[[0-?]*[ -/]*[@-~]", "", text).replace("\r", ""))
    assert len(text) < 2_000_000


class Scripts(HTMLParser):
    """Counts what a browser would run or follow."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.scripts = 0
        self.targets: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.scripts += tag == "script"
        self.targets |= {value or "" for name, value in attrs if name in ("href", "src") or name.startswith("on")}


def test_a_page_runs_nothing_and_leads_nowhere(lab: Lab) -> None:
    text = opera(lab, "report", "--html", "-").stdout
    page = Scripts(text)
    assert page.scripts == 1
    assert all(target.startswith("#") for target in page.targets)


def test_junit_is_well_formed(lab: Lab) -> None:
    root = ElementTree.fromstring(opera(lab, "report", "--junit", "-").stdout)
    assert len(list(root.iter("testcase"))) == len(NAMES)


def test_sarif_has_no_links(lab: Lab) -> None:
    document = json.loads(opera(lab, "report", "--sarif", "-").stdout)
    assert document["runs"][0]["results"]
    assert "](" not in json.dumps([each["message"] for each in document["runs"][0]["results"]])


def test_a_spreadsheet_computes_nothing(lab: Lab) -> None:
    rows = list(csv.reader(io.StringIO(opera(lab, "matrix", "--csv", "-").stdout)))
    assert len(rows) == len(NAMES) + 1
    assert {len(row) for row in rows} == {6}  # operator, library, state; support, passed and tested of one subject
    assert not any(cell.startswith(("=", "+", "-", "@", "\t", "\r")) for row in rows for cell in row)


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", " =1", "=cmd|' /C calc'!A0"])
def test_a_name_that_is_a_formula_is_text(name: str) -> None:
    assert not _inert(name).startswith(("=", "+", "-", "@", "\t", "\r", " "))
    assert _inert("torch.nn.Conv2d") == "torch.nn.Conv2d"
