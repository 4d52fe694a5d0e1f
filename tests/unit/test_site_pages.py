"""The site has a page for each compiler and table of findings, its links lead to its own pages, and it loads nothing from elsewhere."""

from __future__ import annotations

from html import escape
from pathlib import Path
from types import SimpleNamespace

import pytest
from mkdocs.config import load_config
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import get_files

from opera.compilers.registry import plugins

ROOT = Path(__file__).parents[2]
CONFIG = load_config(str(ROOT / "mkdocs.yml"))
SITE = CONFIG.hooks["scripts/site_pages.py"]


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    """The text of each page, by its name, as the hook leaves it."""
    files = CONFIG.plugins.on_files(get_files(CONFIG), config=CONFIG)
    found = {file.src_uri: file.content_string for file in files.documentation_pages()}
    return {name: SITE.with_site_links(name, text) for name, text in found.items()}


def test_each_page_of_the_documentation_is_there_as_it_is(pages: dict[str, str]) -> None:
    part = ROOT / "docs" / "reference" / "command-line-head.md"
    for path in set((ROOT / "docs").rglob("*.md")) - {part}:
        text = path.read_text(encoding="utf-8")
        assert len(pages[path.relative_to(ROOT / "docs").as_posix()].splitlines()) == len(text.splitlines())


def test_each_finding_has_an_anchor_facts_and_its_script_on_the_page_of_its_table(pages: dict[str, str]) -> None:
    for table in SITE.findings():
        page = pages[f"findings/{table.subject}.md"]
        generated = SimpleNamespace(file=SimpleNamespace(generated_by="a hook"))
        html = SITE.on_post_page(page, generated, CONFIG)
        for finding in table.findings:
            assert f"{{ #{finding.name} " in page
            assert escape(table.script(finding).read_text(encoding="utf-8"), quote=False) in html
            assert f"<dd>{escape(finding.trigger, quote=False)}</dd>" in html
        assert f"({table.subject}.md)" in pages["findings/index.md"]


@pytest.mark.parametrize("name", sorted(plugins()))
def test_a_compiler_has_a_page_with_its_routes_rules_filters_and_findings(pages: dict[str, str], name: str) -> None:
    page = pages[f"compilers/{name}.md"]
    adapter = plugins()[name].load()
    assert all(f"| `{route.frontend}` | `{route.name}` |" in page for route in adapter.routes)
    assert page.count("\n| `", page.index("## Unsupported"), page.index("## Findings")) == len(adapter.unsupported)
    assert page.count("](../findings/") == sum(table.compiler == name for table in SITE.findings())
    assert page.count(f"](../badges/{name}-") == sum(each.compiler == name for each in SITE.campaigns())
    assert "(filters.md#precision-policy)" in page
    assert "\n## precision-policy\n" in pages["compilers/filters.md"]


@pytest.mark.parametrize(
    ("page", "markdown", "expected"),
    [
        ("index.md", "[a](docs/tutorial.md)", "[a](tutorial.md)"),
        ("index.md", "[a](docs/design.md#boundaries)", "[a](design.md#boundaries)"),
        ("index.md", "[a](data/findings/tvm-onnx/x-1.py)", "[a](findings/tvm-onnx.md#x-1)"),
        ("index.md", "[a](data/findings/tvm-onnx.toml)", "[a](findings/tvm-onnx.md)"),
        ("design.md", "[`a`](../opera/run/plan.py)", "[`a`](repository/opera/run/plan.py.md)"),
        ("reference/python-api.md", "[a](../../data/campaigns)", "[a](../repository/data/campaigns/README.md)"),
        ("reference/python-api.md", "[a](../../notebooks)", "[a](../notebooks/index.md)"),
        ("reference/python-api.md", "[a](../../notebooks/growth.ipynb)", "[a](../notebooks/growth.md)"),
        ("reference/python-api.md", "[a](../../CHANGELOG.md)", "[a](../project/changelog.md)"),
        ("findings/index.md", "[a](../labelled/README.md)", "[a](../repository/data/labelled/README.md)"),
        ("design.md", "`[a](../x.py)` [b](https://example.org/x) [c](#words)", "`[a](../x.py)` [b](https://example.org/x) [c](#words)"),
        ("design.md", "```text\n[a](../x.py)\n```", "```text\n[a](../x.py)\n```"),
    ],
)
def test_a_link_leads_to_the_page_of_its_file(pages: dict[str, str], page: str, markdown: str, expected: str) -> None:
    assert page in pages
    assert SITE.with_site_links(page, markdown) == expected


@pytest.mark.parametrize(
    ("name", "text", "refused"),
    [
        ("a.html", '<a href="https://example.org">x</a><script src="x.js"></script>', False),
        ("a.html", '<script src="https://example.org/x.js"></script>', True),
        ("a.html", '<img alt="" src=//example.org/x.png>', True),
        ("a.css", "@font-face {src: url(https://example.org/x.woff)}", True),
        ("a.svg", "@font-face {src: url('https://example.org/x.woff')}", True),
    ],
)
def test_a_page_that_loads_from_another_site_is_refused(tmp_path: Path, name: str, text: str, refused: bool) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    site = SimpleNamespace(site_dir=str(tmp_path))
    if refused:
        with pytest.raises(PluginError, match=r"example\.org"):
            SITE.on_post_build(site)
    else:
        SITE.on_post_build(site)


def test_a_broken_link_or_anchor_and_a_forgotten_page_stop_the_build() -> None:
    assert CONFIG.strict
    links = CONFIG.validation.links
    assert "info" not in str([links.absolute_links, links.anchors, links.not_found, links.unrecognized_links]).lower()
    assert {links.absolute_links, links.anchors, links.not_found, links.unrecognized_links, CONFIG.validation.nav.omitted_files} == {30}
