"""The `opera` command. Each subcommand has its own module, which is imported only when it is called, so `opera --help` is instant."""

from __future__ import annotations

import sys
from typing import Any

import click

from opera import __version__
from opera.cli.lazy import LazyGroup
from opera.cli.options import guarded

SECTIONS = {
    "First steps": {
        "doctor": ("opera.cli.doctor", "Check every adapter on a canary model."),
        "extract": ("opera.cli.extract", "Record the operator instances that a library's own tests use."),
        "prioritize": ("opera.cli.prioritize", "Order the instances, so that different bugs show early."),
        "run": ("opera.cli.run", "Run the instances through a compiler, and report failures."),
        "triage": ("opera.cli.triage", "Reduce failing tests, and group findings by root cause."),
        "report": ("opera.cli.report", "List the findings, or write HTML, JUnit, SARIF or Markdown."),
    },
    "Results": {
        "show": ("opera.cli.show", "Show a finding, a test or an instance in full."),
        "reproduce": ("opera.cli.reproduce", "Write a stand-alone script for a finding, and run it."),
        "matrix": ("opera.cli.matrix", "Print every operator's worst verdict on each subject."),
        "ls": ("opera.cli.ls", "List the sources, operators and campaigns of the workspace."),
        "top": ("opera.cli.top", "Watch a running campaign, or see the cost of a finished one."),
    },
    "Continuous integration": {
        "baseline": ("opera.cli.baseline", "Keep a file of known failures, and compare results with it."),
        "combine": ("opera.cli.combine", "Join the workspaces of several machines."),
    },
    "Corpora": {
        "export": ("opera.cli.export", "Write a corpus, or a ranking, to a file."),
        "import": ("opera.cli.import_", "Add the instances of files, or of another workspace."),
    },
    "Settings": {
        "config": ("opera.cli.config", "Show settings and their origins."),
    },
}


class _LazyGroup(LazyGroup):
    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, own=SECTIONS, **settings)


@click.group(
    cls=_LazyGroup, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110}
)
@click.version_option(__version__, prog_name="opera")
@click.pass_context
def command(context: click.Context) -> None:
    """Find bugs in the frontends of deep-learning compilers by migrating the DL libraries' own tests.

    \b
    A first campaign:
      opera extract --lib onnx
      opera run --compiler tvm --frontend onnx --limit 200
      opera report --html report.html
    """
    if context.invoked_subcommand is None:
        from opera.cli.next_step import tell

        tell()


def main() -> None:
    """Entry point of the `opera` script."""
    sys.exit(guarded(command))
