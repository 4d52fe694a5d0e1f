"""The page of the command line is generated, is current, and has every option; help texts share one grammar."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import click
import pytest

from opera.cli import command as opera
from opera.cli.options import Duration, Size

ROOT = Path(__file__).parents[2]


def loaded() -> ModuleType:
    spec = importlib.util.spec_from_file_location("command_line_page", ROOT / "scripts" / "command_line_page.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def commands(group: click.Group, context: click.Context) -> Iterator[tuple[str, click.Command, click.Context]]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        own = click.Context(command, context, info_name=name, terminal_width=80)
        yield own.command_path, command, own
        if isinstance(command, click.Group):
            yield from commands(command, own)


COMMANDS = list(commands(opera, click.Context(opera, info_name="opera")))
OPTIONS = [(path, each) for path, command, _ in COMMANDS for each in command.params if isinstance(each, click.Option)]
PAGE = loaded()


def test_the_page_is_current() -> None:
    current = PAGE.page()
    assert PAGE.PAGE.read_text(encoding="utf-8") == current, f"renew docs/reference/command-line.md with `{PAGE.RENEW}`"


def test_the_page_has_a_section_for_each_command_and_a_row_for_each_of_its_options() -> None:
    sections = dict(re.findall(r"^#{2,3} (opera [^\n]+)\n(.*?)(?=^#{2,3} opera |\Z)", PAGE.page(), re.MULTILINE | re.DOTALL))
    assert set(sections) == {path for path, _, _ in COMMANDS}
    shared = {"workspace", "seed", "as_json"}
    missing = [(path, name) for path, each in OPTIONS if each.name not in shared for name in each.opts if f"`{name}" not in sections[path]]
    assert missing == []


def test_a_changed_help_text_makes_the_page_stale(monkeypatch: pytest.MonkeyPatch) -> None:
    before = PAGE.page()
    limit = next(each for path, each in OPTIONS if path == "opera run" and "--limit" in each.opts)
    monkeypatch.setattr(limit, "help", "Another text | with a bar.")
    assert "Another text \\| with a bar." in PAGE.page()
    assert PAGE.page() != before


@pytest.mark.parametrize(("path", "option"), OPTIONS, ids=lambda each: each if isinstance(each, str) else each.opts[-1])
def test_the_help_of_an_option_is_a_sentence(path: str, option: click.Option) -> None:
    assert re.fullmatch(r"[A-Z].*\.", option.help or "")
    assert not re.match(r"(Most|Longest|Only|No|What|Which|Where|Whose|How many) ", option.help or ""), (
        "begin with a verb, or name the thing"
    )


@pytest.mark.parametrize(("path", "option"), OPTIONS, ids=lambda each: each if isinstance(each, str) else each.opts[-1])
def test_an_option_that_bounds_or_chooses_says_its_default(path: str, option: click.Option) -> None:
    bounds = isinstance(option.type, (click.IntRange, click.Choice, Duration, Size)) and not option.is_flag
    selects = (option.help or "").startswith("Select only")
    assert not bounds or selects or option.required or option.show_default or "default" in (option.help or "")


@pytest.mark.parametrize("name", ["--workspace", "--seed", "--json", "-k", "--quiet", "--campaign"])
def test_an_option_of_one_meaning_has_one_text(name: str) -> None:
    texts = {each.help for path, each in OPTIONS if name in each.opts and path != "opera evaluate"}
    assert len(texts) == 1


@pytest.mark.parametrize(("path", "command", "context"), COMMANDS, ids=[path for path, _, _ in COMMANDS])
def test_help_fits_80_columns_and_no_summary_is_cut(path: str, command: click.Command, context: click.Context) -> None:
    text = command.get_help(context)
    assert max(map(len, text.splitlines())) <= 80
    assert "..." not in text.split("Commands:")[-1] or not isinstance(command, click.Group)
    assert re.match(r"[A-Z][a-z]+ ", (command.help or "").strip())
    assert not re.match(r"\w+s ", (command.help or "").strip()), f"write the help of {path} in the imperative"
