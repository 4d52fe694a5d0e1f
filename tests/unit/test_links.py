"""Every relative link of a page leads to a file, and to a heading that the file has."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("docs", "data", "corpora", ".github")
PAGES = sorted([*ROOT.glob("*.md"), *(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.md"))])
LINK = re.compile(r"\[[^\]]*\]\(([^()\s]+)\)")


def prose(text: str) -> str:
    """Text without what stands in code."""
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL))


def slug(heading: str) -> str:
    """The anchor that a forge makes of a heading."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
    return re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")


@cache
def anchors(page: Path) -> frozenset[str]:
    """All anchors of a page; the second of two equal headings gets a number."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    seen: Counter[str] = Counter()
    found: set[str] = set()
    for heading in re.findall(r"^#{1,6} (.+?)\s*$", text, re.MULTILINE):
        name = slug(heading)
        found.add(f"{name}-{seen[name]}" if seen[name] else name)
        seen[name] += 1
    return frozenset(found)


def broken(page: Path, text: str) -> list[str]:
    """The relative links of *text*, the content of *page*, that lead nowhere."""
    found: list[str] = []
    for link in LINK.findall(prose(text)):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and (target.suffix != ".md" or anchor not in anchors(target))):
            found.append(link)
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    assert broken(page, page.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("link", ["absent.md", "docs/design.md#no-such-heading", "#no-such-heading", "Makefile#setup"])
def test_a_broken_link_is_noticed(link: str) -> None:
    assert broken(ROOT / "README.md", f"See [this]({link}).") == [link]


@pytest.mark.parametrize("link", ["docs/design.md", "docs/design.md#boundaries", "https://example.org/absent", "docs/"])
def test_a_sound_link_is_none_of_them(link: str) -> None:
    assert broken(ROOT / "README.md", f"See [this]({link}), not `[that](absent.md)`.") == []


def test_every_page_of_the_documentation_can_be_reached_from_the_readme() -> None:
    reached, front = set[Path](), {ROOT / "README.md"}
    while front:
        page = front.pop()
        reached.add(page)
        links = (link.partition("#")[0] for link in LINK.findall(prose(page.read_text(encoding="utf-8"))))
        targets = {(page.parent / link).resolve() for link in links if link.endswith(".md") and ":" not in link}
        front |= {target for target in targets if target.exists()} - reached
    parts = {ROOT / "docs" / "reference" / "command-line-head.md"}  # a part of a page
    assert set((ROOT / "docs").rglob("*.md")) - reached - parts == set()
