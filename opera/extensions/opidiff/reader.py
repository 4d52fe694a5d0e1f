"""Reads OpiDiff suites as instances, for `opera import`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from opera.corpus.files import Entry, Problem, check_instance
from opera.corpus.readers import Reader
from opera.extensions.opidiff.instances import Scalars, classes_of, instance_of, objections
from opera.extensions.opidiff.problems import InvalidSuite
from opera.extensions.opidiff.suite import load_suite
from opera.instance import Occurrence
from opera.untrusted import Malformed

SOURCE = "opidiff"
"""The source of instances that suites declare; what they call a test is its id."""
_SUFFIXES = (".yaml", ".yml")


def _entries(path: Path, _library: str | None) -> Iterator[Entry | Problem]:
    """The tests of a suite; one with errors gives the errors alone. Scalars are constants: nothing is exported here."""
    try:
        suite = load_suite([path])
    except InvalidSuite as error:
        yield from (Problem(f"{each.file}:{each.line}:{each.column}", None, each.message) for each in error.problems if not each.warning)
        return
    classes = classes_of(suite)
    for test in suite.tests:
        file, line = suite.line(test)
        try:
            if objections(test, classes):
                raise Malformed(f"test {test.id} needs a class that is not PyTorch's; `opera opidiff run --trust DIR` runs it")
            instance = instance_of(test, scalars=Scalars.PYTHON, classes=classes)
            check_instance(instance)
            yield Entry(instance, (Occurrence(SOURCE, test.id),))
        except (ValueError, RecursionError) as error:
            yield Problem(file, line, str(error)[:300])


OPIDIFF = Reader(_entries, lambda path: path.suffix in _SUFFIXES, gives_ids=True)
