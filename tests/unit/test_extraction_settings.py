"""Which settings an interrupted extraction has to find again in order to go on."""

from __future__ import annotations

from pathlib import Path

from opera.extract.description import SourceDescription, SuiteDescription, describe
from opera.extract.extraction import ExtractOptions, _request_for
from opera.extract.source import DeclaredSource, settings_of

SOURCE = SourceDescription(
    "models", "suite", "models", options={"table": "", "backend": "torch"}, suite=SuiteDescription(("*.py",), option="table")
)


def settings(folder: Path, **options: str) -> str:
    request = _request_for(DeclaredSource(describe("onnx"), SOURCE), ExtractOptions(options=options), folder)
    assert request.suite == Path(options["table"])
    return settings_of(request)


def test_files_that_are_written_anew_for_each_run_count_by_their_content(tmp_path: Path) -> None:
    one = settings(tmp_path, table="first/run", backend="torch")
    assert settings(tmp_path, table="second/run", backend="torch") == one
    assert settings(tmp_path, table="second/run", backend="jax") != one
