"""Drives a headless Chromium over its own pipe, without a port and without further packages."""

from __future__ import annotations

import fcntl
import json
import os
import select
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

_NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome")
_DOWNLOADED = ".cache/ms-playwright/chromium-*/chrome-linux*/chrome"
_FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--remote-debugging-pipe",
)  # fmt: skip
MISSING = "no Chromium is on the path; CONTRIBUTING.md says how to install one"


def chromium() -> str | None:
    """The browser: the one that OPERA_TEST_BROWSER names, or one on the path, or one that Playwright has downloaded."""
    named = os.environ.get("OPERA_TEST_BROWSER")
    found = [named] if named else [shutil.which(name) for name in _NAMES]
    return next(filter(None, found), None) or next(map(str, sorted(Path.home().glob(_DOWNLOADED))), None)


class Browser:
    """One page in a browser of its own. A context manager.

    Attributes:
        complaints: What the page has written to the console, and its errors.
        requests: Addresses that the page has asked for.
    """

    def __init__(self, program: str, profile: Path) -> None:
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self._number = 0
        self._rest = b""
        reading, self._to = os.pipe()
        self._from, writing = os.pipe()
        high = [fcntl.fcntl(each, fcntl.F_DUPFD, 10) for each in (reading, writing)]
        shell = 'exec "$0" "$@" 3<&{0} 4>&{1} {0}<&- {1}>&-'.format(*high)  # the browser reads 3 and writes 4
        command = ["bash", "-c", shell, program, *_FLAGS, f"--user-data-dir={profile}", "about:blank"]
        quiet: dict[str, int] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
        self._process = subprocess.Popen(command, pass_fds=high, **quiet)
        for each in (reading, writing, *high):
            os.close(each)
        self._session: str | None = None
        pages = [each for each in self.ask("Target.getTargets")["targetInfos"] if each["type"] == "page"]
        self._session = self.ask("Target.attachToTarget", targetId=pages[0]["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")
        self.ask("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._to)
        os.close(self._from)
        self._process.kill()
        self._process.wait()

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        """The answer of the browser to a command of the DevTools protocol."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None and not method.startswith(("Target.", "Browser.")):
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            found = self._next()
            if found.get("id") == self._number:
                assert "error" not in found, found
                return found["result"]
            self._note(found)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            assert select.select([self._from], [], [], 60)[0], "the browser does not answer"
            chunk = os.read(self._from, 1 << 20)
            assert chunk, "the browser has ended"
            self._rest += chunk
        line, _, self._rest = self._rest.partition(b"\0")
        return json.loads(line)

    def _note(self, event: dict[str, Any]) -> None:
        method, found = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(found["exceptionDetails"])[:2000])
        elif method in ("Log.entryAdded", "Runtime.consoleAPICalled"):
            self.complaints.append(json.dumps(found)[:2000])
        elif method == "Network.requestWillBeSent":
            self.requests.append(found["request"]["url"])

    def resize(self, width: int, height: int, *, phone: bool = False) -> None:
        """The size of the window."""
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=phone)

    def go(self, address: str) -> None:
        """Loads *address*, also if it is open already, and waits until it is there."""
        self.ask("Page.navigate", url="about:blank")
        self.wait("location.href === 'about:blank'")
        self.ask("Page.navigate", url=address)
        self.wait(f"location.href.startsWith({json.dumps(address.partition('#')[0])}) && document.readyState === 'complete'")

    def run(self, code: str) -> Any:
        """The value of an expression in the page, a promise included."""
        found = self.ask("Runtime.evaluate", expression=code, returnByValue=True, awaitPromise=True, userGesture=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def wait(self, code: str) -> None:
        """Waits until an expression is true."""
        end = time.monotonic() + 60
        while not self.run(code):
            assert time.monotonic() < end, code
            time.sleep(0.02)

    def press(self, key: str, text: str = "") -> None:
        """Presses a key, as a person would."""
        code = {"Enter": 13, "Tab": 9, " ": 32}.get(key, ord(key[0].upper()))
        common: dict[str, Any] = {"key": key, "windowsVirtualKeyCode": code}
        self.ask(
            "Input.dispatchKeyEvent", type="keyDown", text=text or ("\r" if key == "Enter" else key if len(key) == 1 else ""), **common
        )
        self.ask("Input.dispatchKeyEvent", type="keyUp", **common)

    def type(self, text: str) -> None:
        """Writes into the field that has the focus."""
        self.ask("Input.insertText", text=text)

    def click(self, selector: str) -> None:
        """Clicks the middle of the first element of *selector*."""
        place = self.run(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)}); e.scrollIntoView({{block: 'center'}});"
            " const b = e.getBoundingClientRect(); return {x: b.x + b.width / 2, y: b.y + b.height / 2}; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.ask("Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, **place)
