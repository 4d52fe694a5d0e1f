"""The files of a report: HTML, JUnit, SARIF and Markdown."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from opera.config import load_config
from opera.console import check_outputs, doing, plural, say, write
from opera.report import ci
from opera.report.html import write_html
from opera.report.overview import Overview
from opera.report.scripts import ModelSources, write_script
from opera.store import Workspace


@dataclass(frozen=True)
class ReportFiles:
    """Where each form of a report goes: a file, `-` for standard output, or None."""

    html: Path | None = None
    junit: Path | None = None
    sarif: Path | None = None
    markdown: Path | None = None

    @property
    def paths(self) -> tuple[Path, ...]:
        """All that are given."""
        return tuple(path for path in (self.html, self.junit, self.sarif, self.markdown) if path is not None)

    def check(self, *, as_json: bool) -> None:
        """Raises UserError where more than one document would go to standard output."""
        check_outputs(as_json, *self.paths)

    def write(self, workspace: Workspace, name: str, view: Overview, *, scripts: bool) -> None:
        """Writes *view* in each form.

        Args:
            workspace: Open; only read.
            name: How the user calls the workspace.
            view: The report.
            scripts: Whether the page gets the scripts that the workspace does not have yet; a worker of each library writes them.
        """
        if self.html is not None and scripts:
            doing(f"writing the scripts of {plural(len(view.findings), 'finding')}; --no-scripts leaves them out")
            with ModelSources(workspace, load_config()) as sources:
                write_html(self.html, workspace, name, view, partial(write_script, workspace, sources))
        elif self.html is not None:
            write_html(self.html, workspace, name, view)
        for path, form in ((self.junit, ci.junit), (self.sarif, ci.sarif), (self.markdown, ci.markdown)):
            if path is not None:
                write(path, form(view, name))
        for path in self.paths:
            say(f"wrote {path}: {plural(len(view.findings), 'finding')} from {plural(view.tests, 'test')}")
