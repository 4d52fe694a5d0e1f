"""An extension that is broken, or takes a name that is taken, costs no other command."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from third_party import install

from opera.cli import SECTIONS, command
from opera.cli.lazy import twice
from opera.errors import EnvironmentBroken
from opera.instance.kinds import GROUP, Kind
from opera.plugins import broken, load, loaded


@pytest.fixture
def third_party(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A distribution with one extension that has three commands, and one that cannot be imported."""
    install(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    Kind._known.pop("absent", None)


@pytest.mark.usefixtures("third_party")
def test_a_broken_extension_is_named_and_breaks_no_command() -> None:
    assert "twin" in loaded("opera.commands")
    assert "absent" not in loaded("opera.commands")
    assert "no_such_module" in str(broken("opera.commands")["absent"])
    assert CliRunner().invoke(command, ["--help"]).exit_code == 0
    assert CliRunner().invoke(command, ["ls", "--help"]).exit_code == 0


@pytest.mark.usefixtures("third_party")
def test_a_command_that_is_named_twice_stays_that_of_the_first() -> None:
    said = " ".join(twice(SECTIONS))
    assert "extension twin has a command 'run', as opera has" in said
    assert "extension twin has a command 'other', as other has" in said
    context = click.Context(command)
    found = command.get_command(context, "run")
    assert found is not None
    assert found.help is not None
    assert "hello" not in found.help


@pytest.mark.usefixtures("third_party")
def test_commands_of_an_extension_stand_under_its_title() -> None:
    assert CliRunner().invoke(command, ["mine"]).output == "hello\n"
    assert CliRunner().invoke(command, ["export", "mine"]).output == "hello\n"
    assert "Twins:" in CliRunner().invoke(command, ["--help"]).output


@pytest.mark.usefixtures("third_party")
def test_a_kind_whose_extension_is_broken_is_read_and_says_what_to_do() -> None:
    with pytest.raises(EnvironmentBroken, match=r"no_such_module.*reinstall"):
        _ = Kind("absent").behaviour
    with pytest.raises(EnvironmentBroken, match="no_such_module"):
        load(GROUP, "absent")


@pytest.mark.parametrize("name", ["nonsense", "", 3, None])
def test_an_unknown_kind_is_a_value_error(name: object) -> None:
    with pytest.raises(ValueError, match="no kind of instance"):
        Kind(name)


def test_a_kind_exists_once() -> None:
    assert Kind("node") is Kind.NODE
    assert Kind.GRAPH.behaviour.fixes_inputs
    assert Kind.FUNCTION.behaviour.has_one_operator
