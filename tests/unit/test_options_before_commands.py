"""An option in front of the command that it belongs to: the error says where it stands."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from opera.cli import command as opera
from opera.cli.help import _EVERYWHERE, COMMON, options_by_heading
from opera.cli.options import Duration, OutputFile, Size


def commands(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """All commands that are no groups, with the names that lead to them."""
    with click.Context(group) as context:
        for name in group.list_commands(context):
            found = group.get_command(context, name)
            assert found is not None
            if isinstance(found, click.Group):
                yield from commands(found, (*path, name))
            else:
                yield (*path, name), found


COMMANDS = dict(commands(opera))


def refused(*arguments: str) -> str:
    with pytest.raises(click.UsageError) as error:
        opera.main(list(arguments), prog_name="opera", standalone_mode=False)
    return error.value.format_message()


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_option_in_front_of_its_command_is_said_to_stand_behind_it(path: tuple[str, ...]) -> None:
    own = {"--help", "-h", "--version"}
    for option in (each for each in COMMANDS[path].params if isinstance(each, click.Option)):
        for name in (each for each in option.opts if each not in own):
            written = [name] if option.is_flag else [name, "D"]
            for level in range(len(path)):
                said = refused(*path[:level], *written, *path[level:], "x")
                assert said == f"{name} stands behind the command: opera {' '.join(path)} ... {' '.join(written)}"


def test_common_options_are_known_without_a_command() -> None:
    for found in COMMANDS.values():
        with click.Context(found) as context:
            shared = {each.opts[-1] for each in options_by_heading(found, context)[COMMON]}
        assert shared - {"--help", "-h"} <= set(_EVERYWHERE)
    assert refused("--workspace", "D") == "--workspace stands behind the command: opera COMMAND ... --workspace D"
    assert refused("stablehlo", "--seed=3") == "--seed stands behind the command: opera stablehlo COMMAND ... --seed=3"


@pytest.mark.parametrize("arguments", [("--wrokspace", "D", "run"), ("--arbiters", "report"), ("--known", "x")])
def test_an_option_of_no_such_command_stays_unknown(arguments: tuple[str, ...]) -> None:
    assert refused(*arguments).startswith(f"No such option {arguments[0]!r}")


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_no_time_and_no_memory_are_usage_errors(path: tuple[str, ...]) -> None:
    for option in (each for each in COMMANDS[path].params if isinstance(each.type, Duration | Size)):
        for value in ("0", "0.0"):
            with pytest.raises(click.BadParameter, match=f"'{value}' is no (time|memory) at all; write e.g."):
                option.type.convert(value, option, None)
        assert option.type.convert("1" if isinstance(option.type, Size) else "1ms", option, None)


def test_a_folder_that_an_output_needs_is_made_and_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    OutputFile().convert(str(tmp_path / "reports" / "page.html"), None, None)
    assert capsys.readouterr().err == f"the folder {tmp_path / 'reports'} does not exist, and is made\n"
    for there in ("page.html", "-"):
        OutputFile().convert(there, None, None)
    assert capsys.readouterr().err == ""
