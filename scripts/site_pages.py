"""Adds pages to the site of mkdocs.yml, which runs this module as a hook: pages of the repository outside `docs/`, and pages made of data.

| page of the site | made of |
|---|---|
| `index.md`, `project/` | README.md, CONTRIBUTING.md, SECURITY.md, CHANGELOG.md |
| `compilers/` | what each adapter declares, its findings, and the filters that hold for its results |
| `findings/` | data/findings: the list of all, and one page for each table |
| `can-i-use/` | data/campaigns: one grid of operators and compilers for each library |
| `can-i-use/SUBJECT.md`, `can-i-use/SUBJECT-VERSION.md` | data/versions: a grid of operators and versions, and what changed in each |
| `support.json`, `versions.json`, `versions/`, `findings.json`, `badges/` | the same data for programs |
| `notebooks/` | the notebooks with their stored outputs |
| `repository/` | every other file that a page links to |

Links lead from file to file in the repository. On the site they lead to the pages of these files.
"""

from __future__ import annotations

import functools
import json
import posixpath
import re
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from recorded_findings import FOLDER, Finding, Status, Table, tables, title_of
from site_answers import NAMES, changes_page, findings_list, share_cells, support_page, versions_page
from site_data import Support, as_json, badge, campaigns, columns, findings_document, support_document, versions, versions_document

from opera.compilers.adapter import Adapter, Route
from opera.compilers.registry import plugins
from opera.extensions.findings.families import Families, families
from opera.oracles.filters import Filter, FilterScope
from opera.oracles.filters import filters as known_filters
from opera.report.words import code, fenced, inline

ROOT = Path(__file__).parents[1]
DOCS = "docs/"
FINDINGS = "data/findings"
HOME = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "SECURITY.md": "project/security.md",
    "CHANGELOG.md": "project/changelog.md",
    f"{FINDINGS}/README.md": "findings/index.md",
    "notebooks": "notebooks/index.md",
}
"""Pages of files that have a place of their own on the site."""
_OF_FINDINGS = re.compile(rf"{FINDINGS}/(?P<subject>[\w.-]+?)(?:\.toml|/(?P<name>[\w-]+)\.py)")
"""A table of findings, or one of its scripts."""
_LINK = re.compile(r"(?P<code>^```.*?^```|`[^`\n]*`)|(?P<text>\[[^\]]*\]\()(?P<link>[^()\s]+)\)", re.MULTILINE | re.DOTALL)
_REQUEST = re.compile(
    r"<(?:script|img|link|iframe|source|object)\b[^>]*?\b(?:src|href|data)=[\"']?(?:https?:)?//[^\"'\s>]+|url\([\"']?(?:https?:)?//[^)]+"
)
_DIFFERENCE = re.compile(r"\w+: expected (?P<expected>.+), got (?P<actual>.+)")
"""The message of a result that differs."""
_HEAVY = 2_000_000
"""Most bytes of a page."""
_ALONE = "---\nhide:\n  - navigation\n---\n\n"
"""Front matter of a page that is a section of its own: no list of pages takes room from its code and tables."""
_SOURCES: dict[str, str] = {}
"""The file of the repository that a page of the site is made of, by the page."""


_BLOCKS: list[str] = []
"""HTML that is put into pages as it is."""
_PLACE = re.compile(r"<p>@block (\d+)@</p>")
"""The place of a block."""


# The functions that mkdocs calls.


def on_config(config: MkDocsConfig) -> None:
    """Completes the lists of the navigation that follow from files and adapters."""
    added = {
        "Can I use": [
            *({NAMES.get(each, each): f"can-i-use/{each}.md"} for each in libraries(campaigns())),
            *(
                {f"{each.compiler} over time": f"can-i-use/{each.compiler}-{each.frontend}.md"}
                for each in (found.support for found in versions())
            ),
        ],
        "Decisions": [f"decisions/{path.name}" for path in sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md"))],
        "Compilers": [*({name: f"compilers/{name}.md"} for name in plugins()), "compilers/filters.md"],
        "Notebooks": [f"notebooks/{path.stem}.md" for path in notebooks()],
    }
    assert config.nav is not None
    for entry in config.nav:
        for title, pages in entry.items():
            if title in added:
                pages.extend(added[title])


def on_files(files: Files, config: MkDocsConfig) -> None:
    """Adds the generated pages to the files of the site."""
    _SOURCES.clear()
    _BLOCKS.clear()
    _SOURCES.update({file.src_uri: DOCS + file.src_uri for file in files.documentation_pages()})
    pages = {page: (ROOT / path).read_text(encoding="utf-8") for path, page in HOME.items() if path.endswith(".md")}
    pages["index.md"] = _ALONE + pages["index.md"]
    _SOURCES.update({page: path for path, page in HOME.items() if page in pages})
    _tables.cache_clear()
    recorded = findings_document(findings())
    entries: list[dict[str, Any]] = recorded["findings"]
    supported = campaigns()
    pages["findings/index.md"] = findings_index(pages["findings/index.md"], entries)
    pages["can-i-use/index.md"] = support_index(supported)
    for library in libraries(supported):
        text, grid = support_page(library, [each for each in supported if each.library == library], entries)
        pages[f"can-i-use/{library}.md"] = text.replace("@grid@", _as_it_is(grid))
    data = {
        "findings.json": as_json(recorded),
        "support.json": as_json(support_document(supported)),
        "versions.json": as_json(versions_document()),
    }
    shown = [*supported]
    for each in (recorded.support for recorded in versions()):
        place = f"can-i-use/{each.compiler}-{each.frontend}"
        text, grid = versions_page(each, entries)
        pages[f"{place}.md"] = text.replace("@grid@", _as_it_is(grid))
        pages.update({f"{place}-{each.versions[after].name}.md": changes_page(each, before, after) for before, after in each.steps()})
        document = as_json(support_document(columns(each.subject)))
        data[f"versions/{each.compiler}-{each.frontend}.json"] = document
        data[f"versions/{each.compiler}-{each.frontend}.js"] = (
            f'(globalThis.versions ??= {{}})["{each.compiler}-{each.frontend}"] = {document};\n'
        )
        shown += columns(each.subject)
    for name, text in {**data, **{f"badges/{each.name}.svg": badge(each) for each in shown}}.items():
        files.append(File.generated(config, name, content=text))
    for table in findings():
        pages[f"findings/{table.subject}.md"] = findings_page(table)
    pages["compilers/index.md"] = compilers_page()
    for name, plugin in plugins().items():
        pages[f"compilers/{name}.md"] = compiler_page(plugin.load())
    pages["compilers/filters.md"] = filters_page()
    pages["notebooks/index.md"] = "# Notebooks\n\n" + "".join(f"- [{path.stem}]({path.stem}.md)\n" for path in notebooks())
    for path in notebooks():
        text, figures = notebook_page(path)
        pages[f"notebooks/{path.stem}.md"] = text
        for name, picture in figures.items():
            files.append(File.generated(config, f"notebooks/{name}", content=picture))
    texts = [(file.src_uri, file.content_string) for file in files.documentation_pages()] + list(pages.items())
    for path in sorted({path for page, text in texts for path in linked(page, text)} - set(_SOURCES.values())):
        page = site_page(path)
        if page not in pages:
            pages[page] = source_page(path)
            _SOURCES[page] = path
    for page, text in pages.items():
        files.append(File.generated(config, page, content=text))


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Makes the links of a page of the repository lead to pages of the site."""
    return with_site_links(page.file.src_uri, markdown)


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Puts blocks of HTML where their paragraphs are, after the search has read the page."""
    return _PLACE.sub(lambda match: _BLOCKS[int(match[1])], output) if page.file.generated_by else output


def on_post_build(config: MkDocsConfig) -> None:
    """Fails if a page would load anything from another site, or is too heavy."""
    for path in Path(config.site_dir).rglob("*"):
        if path.suffix == ".html" and path.stat().st_size > _HEAVY:
            raise PluginError(f"{path.relative_to(config.site_dir)} has more than {_HEAVY:,} bytes")
        if path.suffix in (".html", ".css", ".svg"):
            requests = [each for each in _REQUEST.findall(path.read_text(encoding="utf-8")) if 'rel="canonical"' not in each]
            if requests:
                raise PluginError(f"{path.relative_to(config.site_dir)} loads {requests[0]!r} from another site")


# Links.


def with_site_links(page: str, markdown: str) -> str:
    """*markdown*, the text of *page*, with links to pages of the site."""
    source = _SOURCES.get(page)
    if source is None:
        return markdown

    def lead(match: re.Match[str]) -> str:
        link = match["link"]
        if link is None or re.match(r"[a-z]+:|#", link):
            return match[0]
        path, hash_, anchor = link.partition("#")
        file = _resolved(source, path)
        if (script := _OF_FINDINGS.fullmatch(file)) and script["name"]:
            hash_, anchor = "#", script["name"]
        there = site_page(file)
        return f"{match['text']}{posixpath.relpath(there, posixpath.dirname(page) or '.')}{hash_}{anchor})"

    return _LINK.sub(lead, markdown)


def linked(page: str, markdown: str) -> Iterator[str]:
    """The files outside of `docs/` that *page* links to."""
    source = _SOURCES.get(page)
    for match in _LINK.finditer(markdown) if source else ():
        if source and match["link"] and not re.match(r"[a-z]+:|#", match["link"]):
            path = _resolved(source, match["link"].partition("#")[0])
            if not path.startswith(DOCS):
                yield path


def site_page(path: str) -> str:
    """The page of the site that shows the file or folder *path* of the repository."""
    if path.startswith(DOCS):
        return path.removeprefix(DOCS)
    if path in HOME:
        return HOME[path]
    if match := _OF_FINDINGS.fullmatch(path):
        return f"findings/{match['subject']}.md"
    if path.endswith(".ipynb"):
        return str(Path(path).with_suffix(".md"))
    if (ROOT / path / "README.md").is_file():
        return site_page(f"{path}/README.md")
    return f"repository/{path}" if path.endswith(".md") else f"repository/{path}.md"


def _resolved(source: str, link: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(source), link))


# Pages.


def source_page(path: str) -> str:
    """A file of the repository, or the list of a folder's files."""
    file = ROOT / path
    if (file / "README.md").is_file():
        file = file / "README.md"
    if file.is_dir():
        names = sorted(each.name for each in file.iterdir() if not each.name.startswith(("_", ".")))
        return f"# {path}\n\n" + "".join(f"- {code(name)}\n" for name in names)
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".md":
        return text
    return f"---\nsearch:\n  exclude: true\n---\n\n# {path}\n\n{_as_it_is(_plain(text))}\n"


def notebooks() -> list[Path]:
    """The notebooks in alphabetical order."""
    return sorted((ROOT / "notebooks").glob("*.ipynb"))


def notebook_page(path: Path) -> tuple[str, dict[str, str]]:
    """A notebook as Markdown, its code folded, and its figures by their names."""
    parts: list[str] = []
    figures: dict[str, str] = {}
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(text)
            continue
        parts.append('??? note "code"\n\n' + re.sub(r"^", "    ", fenced(text, "python"), flags=re.MULTILINE))
        for output in cell["outputs"]:
            data: dict[str, Sequence[str]] = output.get("data", {"text/plain": output.get("text", "")})
            if "image/svg+xml" in data:
                name = f"{path.stem}-{len(figures) + 1}.svg"
                figures[name] = "".join(data["image/svg+xml"])
                parts.append(f"![figure {len(figures)} of {path.stem}]({name})")
            else:
                parts.append(fenced("".join(data["text/plain"]).rstrip()))
    return "\n\n".join(parts) + "\n", figures


def findings(compiler: str | None = None) -> list[Table]:
    """The tables of `data/findings`, of one compiler or of all."""
    return [each for each in _tables() if compiler in (None, each.compiler)]


@functools.cache
def _tables() -> list[Table]:
    return tables()


def findings_index(readme: str, entries: Sequence[dict[str, Any]]) -> str:
    """The list of all findings, then the subjects, then README.md of data/findings: how to read them, and where they come from."""
    return f"""{_ALONE}# Findings

{len(entries)} bugs, each with a script that shows it. Programs read [the same data](../../docs/reference/site-data.md).

{_as_it_is(findings_list(entries))}

## Subjects

{findings_table(findings(), "{}.toml")}
## How to read them

{readme.removeprefix("# Findings").lstrip()}"""


def libraries(supported: Sequence[Support]) -> list[str]:
    """The libraries whose tests the campaigns ran, in alphabetical order."""
    return sorted({each.library for each in supported})


def support_index(supported: Sequence[Support]) -> str:
    """The list of grids, with the two shares of each compiler."""
    rows = "\n".join(
        f"| [{NAMES.get(each.library, each.library)}]({each.library}.md) | {code(each.compiler)} | {share_cells(each)} |"
        for each in supported
    )
    badges = "\n".join(f"![shares of {each.name}](../badges/{each.name}.svg)" for each in supported)
    return f"""# Can I use

Which operators does a compiler get right? The answers are recorded campaigns of the libraries' own tests: *conformance* leaves out
tests that the compiler declines, *coverage* counts them as not right. The shares depend on the tests, so they rank no compilers of
different frontends.

| tests | compiler | conformance: right, of what it takes | coverage: right, of all |
|---|---|--:|--:|
{rows}

The same as pictures, for a page of your own; [site data](../reference/site-data.md) describes them.

{badges}
"""


def findings_table(found: Sequence[Table], link: str) -> str:
    """The number of findings by verdict; *link* leads from the page to that of a table, whose subject takes the place of `{}`."""
    verdicts = list(dict.fromkeys(each.verdict.value for table in _tables() for each in table.findings))
    rows = [
        f"| [{each.compiler} x {each.frontend}]({link.format(each.subject)}) | {len(each.findings)} | {' | '.join(map(str, counts))} |"
        for each in found
        for counts in [[sum(finding.verdict.value == verdict for finding in each.findings) for verdict in verdicts]]
    ]
    return "\n".join([f"| subject | findings | {' | '.join(verdicts)} |", "|---" + "|--:" * (1 + len(verdicts)) + "|", *rows]) + "\n"


def findings_page(table: Table) -> str:
    """All findings of one subject, each with its facts and its script."""
    name = table.compiler
    compiler = f"[{name}](../compilers/{name}.md)" if name in plugins() else name
    head = f"# {name} x {table.frontend}\n\n{len(table.findings)} findings of {compiler} on models of the frontend {code(table.frontend)}."
    return "\n\n".join([head, *(_finding(table, each) for each in table.findings)]) + "\n"


@functools.cache
def _families() -> Families:
    return families(FOLDER)


@functools.cache
def _by_issue() -> dict[str, list[str]]:
    """By issue, the findings that it is about, as subject and name."""
    known, found = _families(), dict[str, list[str]]()
    for table in _tables():
        for each in table.findings:
            found.setdefault(known.issue(each), []).append(f"{table.subject}/{each.name}")
    return found


def _finding(table: Table, finding: Finding) -> str:
    """One finding under its title: its facts, and its script."""
    difference = _DIFFERENCE.fullmatch(finding.summary)
    seen = {"expected": difference["expected"], "actual": difference["actual"]} if difference else {"message": finding.summary}
    own = f"{table.subject}/{finding.name}"
    others = [each for each in _by_issue()[_families().issue(finding)] if each != own]
    facts = {
        **seen,
        "cause": finding.why,
        "fails with": finding.trigger,
        **{f"passes without: {part}": call for part, call in finding.passes.items()},
        "other calls that fail": "\n".join(finding.fails),
        "operators": ", ".join(finding.operators),
        "failure": f"{finding.verdict.value} at stage {finding.stage.value}, route {finding.route}",
        "converter": finding.converter,
        "seen with": finding.seen_with,
        "versions": finding.versions,
        "one issue with": "\n".join(others),
        "status": "" if finding.status is Status.VERIFIED else finding.status.value,
    }
    rows = "\n".join(f"<dt>{_html(label)}</dt><dd>{_html(text)}</dd>" for label, text in facts.items() if text)
    script = table.script(finding).read_text(encoding="utf-8")
    label = re.sub(r"[^\w.: -]+", " ", (finding.converter or finding.operators[0]).rpartition("::")[2])
    return f"## {inline(title_of(script), 400)} {{ #{finding.name} data-toc-label='{label}' }}\n\n" + _as_it_is(
        f"<dl>\n{rows}\n</dl>\n<details><summary>Script</summary>{_plain(script)}</details>"
    )


def _as_it_is(html: str) -> str:
    """A paragraph of Markdown in whose place *html* comes: thousands of lines that neither converter nor search has to read."""
    _BLOCKS.append(html)
    return f"<p>@block {len(_BLOCKS) - 1}@</p>"


def _html(text: str) -> str:
    """*text* as HTML, each of its lines on a line."""
    return escape(text, quote=False).replace("\n", "<br>")


def _plain(text: str) -> str:
    """*text* as a block of code without colours, which would cost more than all other text of the site."""
    return f"<pre><code>{escape(text, quote=False)}</code></pre>"


def count_of(compiler: str) -> int:
    """How many findings `data/findings` has of one compiler."""
    return sum(len(each.findings) for each in findings(compiler))


def compilers_page() -> str:
    """The list of compilers."""
    rows = [
        f"| [{name}]({name}.md) | {', '.join(dict.fromkeys(route.frontend for route in plugin.load().routes))} | {count_of(name)} |"
        for name, plugin in plugins().items()
    ]
    table = "\n".join(["| compiler | frontends | findings |", "|---|---|---|", *rows])
    return f"""# Compilers

Each page has what the adapter declares, and the findings of `data/findings`. The number of findings says how much a compiler was tested,
not how good it is: [Can I use](../can-i-use/index.md) has the shares of tests that it gets right.

{table}
"""


def compiler_page(adapter: type[Adapter]) -> str:
    """What an adapter declares, the findings of its compiler, and the filters that hold for its results."""
    name = adapter.name
    parts = [
        f"# {name}",
        inline((adapter.__doc__ or "").split("\n")[0], 400),
        f"Packages: {', '.join(code(each) for each in adapter.packages)}. Install: {code(f'pip install opera-dl[{name}]')}."
        + (f" Levels: {', '.join(code(each) for each in adapter.levels)}, the default first." if adapter.levels else ""),
        "## Routes",
        "\n".join(["| frontend | route | library | compiler loads |", "|---|---|---|---|", *map(_route_row, adapter.routes)]),
    ]
    own = [each for each in campaigns() if each.compiler == name]
    parts += [f"[![shares of {each.name}](../badges/{each.name}.svg)](../can-i-use/{each.library}.md)" for each in own]
    if adapter.computes_as:
        pairs = ", ".join(f"{code(dtype)} as {code(other)}" for dtype, other in adapter.computes_as.items())
        parts += ["## Precision", f"The compiler computes {pairs}. A difference that this explains is `undefined`, and no finding."]
    rules = [
        f"| {code(rule.reason)} | {', '.join(map(code, rule.stages))} | {code(rule.pattern or ', '.join(rule.types), 400)} |"
        for rule in adapter.unsupported
    ]
    parts += [
        "## Unsupported",
        "A failure counts as `unsupported` if one of these rules holds. OPERA counts such tests, and never reports them.",
        "\n".join(["| reason | stages | message, or else exception |", "|---|---|---|", *rules]),
        "## Findings",
    ]
    found = findings(name)
    if found:
        parts += [
            f"`data/findings` has {count_of(name)} bugs, each with a script that shows it.",
            findings_table(found, "../findings/{}.md"),
        ]
    else:
        parts.append("`data/findings` has none.")
    reasons = ", ".join(dict.fromkeys(f"[{code(each.reason)}](filters.md#{each.reason})" for each in filters(adapter.routes)))
    parts += [
        "## Filters",
        f"A filter excuses a result that no specification fixes. These hold for the libraries of the routes: {reasons}.",
    ]
    return "\n\n".join(parts) + "\n"


def _route_row(route: Route) -> str:
    loaded = code(route.artefact) if route.artefact else "the live module"
    return f"| {code(route.frontend)} | {code(route.name)} | {code(route.library)} | {loaded} |"


def filters(routes: Sequence[Route] = ()) -> list[Filter]:
    """The filters that hold for the libraries of *routes*, or all."""
    libraries = {route.library for route in routes}
    return [each for each in known_filters() if not (routes and each.scope.libraries) or libraries & set(each.scope.libraries)]


def filters_page() -> str:
    """All filters, by their reason."""
    parts = ["# Filters", "A filter excuses a result that no specification fixes. The list is the package `opera/oracles/filters`."]
    by_reason: dict[str, list[FilterScope]] = {}
    for each in filters():
        by_reason.setdefault(each.reason, []).append(each.scope)
    for reason, rows in by_reason.items():
        lines = [f"| {code(row.operators)} | {', '.join(row.libraries or ['all'])} | {_cell(row.why)} |" for row in rows]
        parts += [f"## {reason}", "\n".join(["| operators | libraries | why |", "|---|---|---|", *lines])]
    return "\n\n".join(parts) + "\n"


def _cell(text: str | None) -> str:
    """*text* in a cell of a table."""
    return inline(text or "", 400)
