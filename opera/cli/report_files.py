"""The options that name the files of a report."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

from opera.cli.help import heading
from opera.cli.options import OutputFile
from opera.report.html import ReportFiles

_option = heading("Reports")
F = TypeVar("F", bound=Callable[..., Any])
_FORMS = {
    "html": "Write one self-contained HTML page to this file.",
    "junit": "Write JUnit XML to this file: one suite per subject, one case per operator and finding.",
    "sarif": "Write SARIF 2.1.0 to this file.",
    "markdown": "Write a Markdown summary to this file.",
}


def report_files(function: F) -> F:
    """Adds `--html`, `--junit`, `--sarif` and `--markdown`, and passes their values as one `files`."""

    @functools.wraps(function)
    def gathered(*arguments: object, **values: Any) -> Any:
        files = ReportFiles(**{form: values.pop(form) for form in _FORMS})
        return function(*arguments, files=files, **values)

    made = cast(F, gathered)
    for form, text in reversed(_FORMS.items()):
        made = _option(f"--{form}", type=OutputFile(), metavar="FILE", help=f"{text[:-1]}; - is standard output.")(made)
    return made
