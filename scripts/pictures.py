"""Makes the pictures of the documentation from real output: the terminal, the HTML page, and a figure of a notebook.

python scripts/pictures.py               all pictures, in docs/pictures: about two minutes
python scripts/pictures.py page plot     some of: terminal, page, plot

The pictures show a campaign of OpenVINO on a part of the ONNX corpus. The picture of the page needs Chromium.
"""

from __future__ import annotations

import argparse
import fcntl
import io
import json
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
from pathlib import Path

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).parents[1]
PICTURES = ROOT / "docs" / "pictures"
KINDS = ("terminal", "page", "plot")
COLUMNS = 100
SUBJECT = ("--compiler", "openvino", "--frontend", "onnx")
RUN = ("run", *SUBJECT, "-k", "pool or resize", "--exit-zero")
_TABLE = "\x1b[1mopenvino/onnx"
"""The beginning of the live table."""
_AGAIN = re.compile(r"\r\x1b\[2K(?:\x1b\[1A\x1b\[2K)*")
"""What rich writes before it draws a live table again."""
_BAND = re.compile(r'<g id="FillBetweenPolyCollection_\d+">.*?</g>\s*</g>\s*', re.DOTALL)
_WEB_FONT = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)


def main() -> None:
    """Makes what is named, or everything."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=", ".join(KINDS))
    kinds: set[str] = set(parser.parse_args().kinds or KINDS)
    if unknown := kinds - set(KINDS):
        parser.error(f"unknown kind {min(unknown)!r}; choose one of: {', '.join(KINDS)}")
    PICTURES.mkdir(exist_ok=True)
    if "plot" in kinds:
        (PICTURES / "strategies.svg").write_text(figure("campaigns"), encoding="utf-8")
    if kinds & {"terminal", "page"}:
        with tempfile.TemporaryDirectory() as folder:
            campaign(Path(folder), kinds)


def campaign(folder: Path, kinds: set[str]) -> None:
    """Runs the campaign in *folder*, and takes its pictures."""
    opera(folder, "extract", "--lib", "onnx", "--option", "inner=no")
    states = screens(on_terminal(folder, *RUN))
    opera(folder, "triage", "--budget", "30s")
    if "terminal" in kinds:
        save("run", RUN, states[len(states) * 3 // 4])
        save("report", ("report",), opera(folder, "report"))
    if "page" in kinds:
        opera(folder, "report", "--html", "report.html")
        photograph(folder / "report.html", PICTURES / "page.png")


def opera(folder: Path, *arguments: str) -> str:
    """What a command prints."""
    print("$ opera", *arguments, flush=True)
    environment = {**os.environ, "COLUMNS": str(COLUMNS)}
    return subprocess.run(command(*arguments), cwd=folder, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout


def command(*arguments: str) -> list[str]:
    """The command as a process is started."""
    return [str(Path(sys.executable).with_name("opera")), *arguments]


def on_terminal(folder: Path, *arguments: str) -> str:
    """What a command draws on a terminal, with all its escape sequences."""
    print("$ opera", *arguments, flush=True)
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, COLUMNS, 0, 0))
    environment = {**os.environ, "TERM": "xterm-256color"}
    process = subprocess.Popen(command(*arguments), cwd=folder, env=environment, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    drawn = b""
    try:
        while chunk := os.read(ours, 65536):
            drawn += chunk
    except OSError:  # the end of a terminal whose last process has gone
        pass
    os.close(ours)
    if process.wait():
        sys.exit(f"opera {arguments[0]} ended with exit code {process.returncode}")
    return drawn.decode().replace("\r\n", "\n")


def screens(drawn: str) -> list[str]:
    """The states of a terminal with a live table: the lines that stay, and the table under them."""
    states: list[str] = []
    lasting = ""
    for part in _AGAIN.split(drawn):
        above, table, below = part.partition(_TABLE)
        lasting += above
        if table:
            states.append(lasting + table + below)
    return states


def save(name: str, arguments: tuple[str, ...], output: str) -> None:
    """Writes a picture of a terminal with a command and its output."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    words = (f'"{word}"' if " " in word else word for word in arguments)
    console.print(Text.assemble(("$ ", "green"), ("opera " + " ".join(words), "bold")))
    console.print(Text.from_ansi(output.replace("\x1b[?25l", "").rstrip()))
    picture = _WEB_FONT.sub("", console.export_svg(title="opera", unique_id="opera"))
    (PICTURES / f"{name}.svg").write_text(picture, encoding="utf-8")


def photograph(page: Path, picture: Path) -> None:
    """Writes the top of *page*, as a browser shows it."""
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None:
        sys.exit("the picture of the page needs Chromium; install it, or name other kinds")
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1280,960"]
    subprocess.run([browser, *options, f"--screenshot={picture}", page.as_uri()], check=True, stderr=subprocess.DEVNULL)
    from PIL import Image

    with Image.open(picture) as image:
        image.convert("RGB").quantize(64).save(picture, optimize=True)


def figure(notebook: str) -> str:
    """The first figure that *notebook* keeps, without its bands, which take nearly half of the bytes."""
    document = json.loads((ROOT / "notebooks" / f"{notebook}.ipynb").read_text(encoding="utf-8"))
    outputs = (output for cell in document["cells"] for output in cell.get("outputs", []))
    drawn = "".join(next(output["data"]["image/svg+xml"] for output in outputs if "image/svg+xml" in output.get("data", {})))
    return _BAND.sub("", drawn)


if __name__ == "__main__":
    main()
