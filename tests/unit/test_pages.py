"""Pages say what the code says: the picture of the layers, the words, the decisions, and the paths that they name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from test_layers import EXTENSIONS, GROUPS

from opera.oracles.verdict import Stage, Verdict

ROOT = Path(__file__).parents[2]
DECISIONS = sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md"))
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs").rglob("*.md"))]


def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def test_the_picture_of_the_layers_is_that_of_the_imports() -> None:
    page = text_of("docs/explanation/layers.md")
    [picture] = re.findall(r"^```text\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    drawn = dict(re.split(r"\s+", line, maxsplit=1) for line in picture.splitlines())
    assert list(reversed(drawn.items())) == list(GROUPS.items())
    assert set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)) == EXTENSIONS


def glossary() -> dict[str, str]:
    return dict(re.findall(r"^\| ([^|]+?) \| (.+?) \|$", text_of("docs/reference/glossary.md"), re.MULTILINE)[1:])


def test_the_glossary_is_in_alphabetical_order() -> None:
    words = list(glossary())
    assert len(words) > 40
    assert words == sorted(words, key=str.lower)


@pytest.mark.parametrize(("word", "members"), [("verdict", Verdict), ("stage", Stage)])
def test_the_glossary_lists_what_the_code_has(word: str, members: type[Verdict] | type[Stage]) -> None:
    assert re.findall(r"`(\w+)`", glossary()[word]) == [each.value for each in members]


@pytest.mark.parametrize("number", range(1, len(DECISIONS) + 1))
def test_a_decision_has_its_number_its_parts_and_a_place_in_the_list(number: int) -> None:
    path = DECISIONS[number - 1]
    text = path.read_text(encoding="utf-8")
    assert path.name.startswith(f"{number:04d}-")
    assert text.startswith(f"# {number}. ")
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == ["Context", "Decision", "Consequences"]
    assert len(text.splitlines()) <= 25
    title = text.splitlines()[0].removeprefix(f"# {number}. ")
    assert f"| {number} | [{title}]({path.name}) |" in text_of("docs/decisions/README.md")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_modules_and_files_that_a_page_names_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    files = re.findall(r"(?<![\w/.-])((?:opera|templates|instrumentation|scripts|tests|corpora)/[\w/]+\.(?:py|toml|sql|md))\b", text)
    written = re.findall(r"This one,\s+`([\w/]+\.py)`", text)  # files that the reader is to write
    assert [each for each in files if each not in written and "LIBRARY" not in each and not (ROOT / each).exists()] == []
    modules = re.findall(r"(?:from|import|-m) (opera(?:\.\w+)+)", text)
    missing = [each for each in modules if not any((ROOT / f"{each.replace('.', '/')}{end}").exists() for end in (".py", "/__init__.py"))]
    assert missing == []


def test_the_readme_is_short_and_names_what_a_newcomer_types() -> None:
    text = text_of("README.md")
    assert len(text.splitlines()) <= 80
    assert {"make setup", "make demo", "make test"} <= set(re.findall(r"make [a-z]+", text))


def test_the_readme_shows_lines_of_a_script_of_the_findings() -> None:
    text = text_of("README.md")
    [shown] = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    [script] = re.findall(r"\((data/findings/[\w./-]+\.py)\)", text)
    assert [line for line in shown.splitlines() if line not in text_of(script).splitlines()] == []
