"""Prints all output of OPERA, and makes foreign text safe first. No other module prints.

Names of APIs and messages of compilers come from elsewhere: they may be huge, or hold what a terminal obeys.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import re
import shlex
import shutil
import sys
import textwrap
import threading
import time
import unicodedata
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

from opera.atomic import output
from opera.errors import UserError

STDOUT = Path("-")
"""The file name that stands for standard output."""
_SEQUENCES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)|[ -/]+[0-~])")
"""Escape sequences of terminals: CSI, OSC, DCS, SOS, PM, APC and short ones. An incomplete sequence keeps its text and loses its ESC."""
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_UNSAFE = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})
_INVISIBLE = frozenset(
    [0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0, *range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)]
)
"""Invisible characters whose category is letter or mark."""
_MARKS = 4
"""Most combining marks on one letter."""
_LINE = 10_000
_PATIENCE, _REDRAW, _PLAIN = 2.0, 0.2, 30.0
"""Seconds until a live line appears, between its drawings, and between plain lines."""
_CELL = 400


class _Shown(dict[int, int]):
    """The shown form of each character, computed once."""

    def __missing__(self, code: int) -> int:
        unsafe = code in _INVISIBLE or (code not in (0x09, 0x0A) and unicodedata.category(chr(code)) in _UNSAFE)
        self[code] = 0xFFFD if unsafe else code
        return self[code]


_SHOWN = _Shown()


def clean(text: str) -> str:
    """*text* without what a terminal obeys, what is not seen, what overlaps other lines, and what cannot be written as UTF-8."""
    text = _SEQUENCES.sub("", text.replace("\r\n", "\n"))
    if text.isascii():
        return _CONTROLS.sub("\ufffd", text)
    return _few_marks(text.translate(_SHOWN))


def _few_marks(text: str) -> str:
    kept: list[str] = []
    marks = 0
    for character in text:
        marks = marks + 1 if character > "\u02ff" and unicodedata.category(character) in ("Mn", "Me") else 0
        if marks <= _MARKS:
            kept.append(character)
    return "".join(kept)


def cut(text: str, limit: int) -> str:
    """*text*, at most about *limit* characters of it: beginning and end, where messages say what matters."""
    half = limit // 2
    return text if len(text) <= limit else f"{text[:half]}\n… {len(text) - 2 * half:,} characters left out …\n{text[-half:]}"


def block(text: str, limit: int = 6_000) -> str:
    """*text* with its lines, at most about *limit* characters."""
    return clean(cut(text, limit))


def one_line(text: str, limit: int = 240) -> str:
    """*text* on one line of at most *limit* characters."""
    line = " ".join(block(text[: 8 * limit]).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def quoted(text: str) -> str:
    """*text* as one word of a command that a person types into a shell; characters that are not shown are written as bash reads them."""
    if clean(text) == text and not re.search(r"[\n\t]", text):
        return shlex.quote(text)
    shown = (chr(byte) if 32 <= byte < 127 and byte not in b"'\\" else f"\\{byte:03o}" for byte in os.fsencode(text))
    return f"$'{''.join(shown)}'"


def option(workspace: Path | str) -> str:
    """The option by which printed commands find *workspace*."""
    return "" if str(workspace) == ".opera" else f" --workspace {quoted(str(workspace))}"


def echo(line: str = "", *, err: bool = False) -> None:
    """Prints one line, whatever is in it, to standard output, or to standard error."""
    line = clean(line[: 2 * _LINE]).replace("\n", " ")
    _put((line if len(line) <= _LINE else line[: _LINE - 1] + "…") + "\n", err=err)


def say(message: str = "", *, quiet: bool = False) -> None:
    """Prints a line for a person to standard error, where it never disturbs a document."""
    if not quiet:
        echo(message, err=True)


def complain(text: str) -> None:
    """Prints a message of several lines to standard error."""
    _put(block(text, 2 * _LINE).rstrip("\n") + "\n", err=True)


def print_text(text: str) -> None:
    """Prints a text that has its own lines to standard output."""
    _put(clean(text), err=False)


def print_json(document: Mapping[str, object]) -> None:
    """Writes the one JSON document of a command that was called with `--json`: lossless, and in plain ASCII, whatever is in it."""
    _put(json.dumps(document, indent=2) + "\n", err=False)


def write(path: Path, text: str | Callable[[], str]) -> None:
    """Writes *text* to *path*, whole or not at all; to standard output where that is `-`. No input of the command is replaced.

    Args:
        path: The file.
        text: The text, or a function that takes its time to make it: it is called once the file can be written.
    """
    if path == STDOUT:
        print_text(text if isinstance(text, str) else text())
        return
    with output(path) as file:
        file.write((text if isinstance(text, str) else text()).encode("utf-8", "replace"))


def check_outputs(as_json: bool, *paths: Path | None) -> None:
    """Raises UserError where more than one document would go to standard output."""
    if as_json + sum(path == STDOUT for path in paths) > 1:
        both = "the document of --json and a file named -" if as_json else "several files named -"
        raise UserError(f"{both} cannot all go to standard output; name a file")


def terminal_width() -> int:
    """Columns of the terminal; 120 where the output is not one."""
    return shutil.get_terminal_size((120, 24)).columns


def wrapped(text: str) -> None:
    """Prints *text* in lines that the terminal holds; on one line where the output is not a terminal."""
    width = shutil.get_terminal_size((_LINE, 24)).columns
    for line in textwrap.wrap(text, width, subsequent_indent="  ", break_long_words=False):
        echo(line)


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]], *, elastic: int | None = None) -> None:
    """Prints *rows* under *header*, in aligned columns without colours, as wide as the terminal at most; numbers are right-aligned.

    Where there is not enough room, the elastic column is cut, the last one gets several lines, and then the others do. If this is not
    enough, each row becomes a block with a line for each cell.

    Args:
        header: One title per column.
        rows: Cells as text.
        elastic: The column that is cut first; none when None.
    """
    titles = [_flat(each) for each in header]
    lines = [[_flat(str(cell)) for cell in row] for row in rows]
    columns = range(len(titles))
    numeric = [bool(lines) and all(_is_number(row[place]) for row in lines) for place in columns]
    data = [max((len(row[place]) for row in lines), default=0) for place in columns]
    words = [max(map(len, title.split()), default=0) for title in titles]
    widths = [max(len(title), wide) for title, wide in zip(titles, data, strict=True)]
    last = None if numeric[-1] or elastic == columns[-1] else columns[-1]
    least = [max(word, wide if number else min(wide, _LEAST)) for word, wide, number in zip(words, data, numeric, strict=True)]
    room = terminal_width() - 2 * (len(titles) - 1)
    for place in (*(each for each in (elastic, last) if each is not None), None):
        _shrink(widths, [max(low, _ELASTIC if each == place else 0) for each, low in zip(columns, least, strict=True)], room, place)
    if sum(widths) > room:
        _print_blocks(titles, lines)
        return
    if elastic is not None:
        for row, cell in zip(lines, _apart([row[elastic] for row in lines], widths[elastic]), strict=True):
            row[elastic] = cell
    for row in (titles, ["-" * width for width in widths], *lines):
        cells = [[cell] if place == elastic else textwrap.wrap(cell, widths[place]) for place, cell in enumerate(row)]
        for parts in itertools.zip_longest(*cells, fillvalue=""):
            texts = [
                _cell(part, width, right=number and row is not titles) for part, width, number in zip(parts, widths, numeric, strict=True)
            ]
            echo("  ".join(texts).rstrip())


_LEAST, _ELASTIC = 6, 20
"""Characters that a column of text keeps, and a column that is cut or continued first."""


def _shrink(widths: list[int], least: Sequence[int], room: int, place: int | None) -> None:
    """Takes from the column at *place*, or else always from the widest, what is too much for *room*."""
    while sum(widths) > room:
        able = [each for each in range(len(widths)) if widths[each] > least[each] and place in (None, each)]
        if not able:
            return
        widths[max(able, key=widths.__getitem__)] -= 1


def _print_blocks(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Prints each row as lines `title: cell`."""
    for number, row in enumerate(rows):
        if number:
            echo()
        for title, cell in zip(titles, row, strict=True):
            wrapped(f"{title}: {cell}")


def _apart(cells: Sequence[str], width: int) -> list[str]:
    """*cells* of at most *width* characters; those that would look alike without their ends lose their middle."""
    shown = Counter(_cell(cell, width, right=False) for cell in set(cells))
    head = (width - 1) // 2
    return [
        cell if len(cell) <= width or shown[_cell(cell, width, right=False)] < 2 else f"{cell[:head]}…{cell[head + 1 - width :]}"
        for cell in cells
    ]


def _flat(text: str) -> str:
    """A cell: on one line, and not wider than anybody reads."""
    line = clean(text[: 2 * _CELL]).replace("\n", " ").replace("\t", " ")
    return line if len(line) <= _CELL else line[: _CELL - 1] + "…"


def _cell(text: str, width: int, *, right: bool) -> str:
    cut = text if len(text) <= width else text[: width - 1] + "…"
    return cut.rjust(width) if right else cut.ljust(width)


def _is_number(text: str) -> bool:
    return bool(text) and text.replace(",", "").replace(".", "").replace("%", "").isdigit()


def terminal(*, err: bool = False) -> Any:
    """A `rich.console.Console` for tables with colours and live tables. Text in them is cleaned, and none of it is markup."""
    from collections.abc import Iterable

    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment

    class Clean(Console):
        def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
            for segment in super().render(renderable, options):
                yield segment if segment.control else Segment(clean(segment.text), segment.style)

    return Clean(stderr=err, markup=False, emoji=False, highlight=False)


class LiveLine:
    """One line on standard error that says what a command is doing. Use it as a context manager; `doing` changes what the line says.

    On a terminal it appears after two seconds, is rewritten, and goes when the work ends; lines printed meanwhile stand above it.
    Elsewhere it is printed every thirty seconds.
    """

    _current: ClassVar[LiveLine | None] = None

    def __init__(self, text: str, *, quiet: bool = False, live: bool | None = None) -> None:
        """Prepares the line.

        Args:
            text: What is being done.
            quiet: Show nothing.
            live: Whether standard error is a terminal that can rewrite a line; found out when None.
        """
        self._text: str | None = text
        self._live = (sys.stderr.isatty() and os.environ.get("TERM") != "dumb") if live is None else live
        self._quiet = quiet
        self._began = time.monotonic()
        self._shown = False
        self._ended = threading.Event()
        self._lock = threading.RLock()
        self._thread = threading.Thread(target=self._tick, daemon=True)

    def update(self, text: str | None) -> None:
        """Changes what the line says; with None it goes, until there is something to say again."""
        with self._lock:
            self._text = text
            if text is None:
                self.hide()

    def __enter__(self) -> Self:
        if not self._quiet and LiveLine._current is None:
            LiveLine._current = self
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        if LiveLine._current is self:
            self._ended.set()
            self._thread.join()
            LiveLine._current = None
            self.hide()

    def hide(self) -> None:
        """Takes the line off the terminal until it is drawn again."""
        with self._lock:
            if self._shown:
                self._shown = False
                self._raw("\r\x1b[2K")

    def _tick(self) -> None:
        interval, first = (_REDRAW, _PATIENCE) if self._live else (_PLAIN, _PLAIN)
        while not self._ended.wait(interval):
            seconds = time.monotonic() - self._began
            with self._lock:
                if seconds < first or self._text is None:
                    continue
                took = f" ({seconds:.0f} s)"
                if self._live:
                    room = shutil.get_terminal_size().columns - 1 - len(took)
                    self._raw(f"\r\x1b[2K{one_line(self._text, max(room, 10))}{took}")
                    self._shown = True
                else:
                    say(one_line(self._text) + took)

    @staticmethod
    def _raw(text: str) -> None:
        with contextlib.suppress(OSError, ValueError):  # the terminal may be gone
            sys.stderr.write(text)
            sys.stderr.flush()

    @classmethod
    def tell(cls, text: str | None) -> None:
        """Changes what the line of the running command says; nothing without one."""
        if cls._current is not None:
            cls._current.update(text)

    @classmethod
    @contextlib.contextmanager
    def above(cls) -> Generator[None]:
        """Keeps the line off the terminal while other lines are printed."""
        line = cls._current
        if line is None:
            yield
            return
        with line._lock:
            line.hide()
            yield


def doing(text: str | None) -> None:
    """Says what takes the time, if this command has a live line; None says nothing."""
    LiveLine.tell(text)


def _put(text: str, *, err: bool) -> None:
    with LiveLine.above():
        _write(text, err=err)


def _write(text: str, *, err: bool) -> None:
    import click  # the processes of compilers and libraries, which print nothing, need not have it

    encoding = getattr(sys.stderr if err else sys.stdout, "encoding", None) or "utf-8"
    click.echo(text.encode(encoding, "replace").decode(encoding), nl=False, err=err)


def plural(count: int, noun: str) -> str:
    """`1 test`, `1,234 tests`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
