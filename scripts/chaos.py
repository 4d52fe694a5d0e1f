"""Kills a campaign at random moments, in every way there is, and checks that nothing is lost, nothing is there twice, nothing is left.

    python scripts/chaos.py WORKSPACE --kills 200 --seed 1 -- --compiler onnxruntime --frontend onnx --limit 60

WORKSPACE holds the instances and is only copied. One copy runs undisturbed. In another one the same command is started, attacked at a
random moment, and started again until it completes; then a new copy, until the attacks are used up. Each must end with the very
results of the undisturbed one, in the same places: the strategy is `opera`, because the order of `opera-adaptive` follows the results,
which come in another order after a kill. Prints one JSON document; exit code 1 when anything differs.

The attacks:

- `driver` and `all` send SIGKILL to the driver, and to it with every process it has started.
- `power` is `all`, after which the end of the database's log and of files just written is gone, as if they had never reached the disk.
- `worker` sends SIGKILL to one process that the driver has started.
- `interrupt` and `twice` are Ctrl-C, once and twice.
- `freeze` stops everything for longer than any deadline and lets it go on.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

ATTACKS = ("driver", "all", "power", "worker", "interrupt", "twice", "freeze")
WEIGHTS = (25, 15, 15, 30, 6, 6, 3)
MARK = "OPERA_DRIVER"
RECENT = 2.0
"""Seconds for which what was written may not have reached the disk."""


def main() -> int:
    """Runs the attacks, and prints the outcome as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workspace", type=Path)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--attacks", default=",".join(ATTACKS), help="comma-separated; by default all")
    parser.add_argument("--freeze", type=float, default=2.5, metavar="S", help="seconds; more than the deadline of a stage")
    parser.epilog = "What follows -- are the arguments of opera run."
    at = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    given, arguments = parser.parse_args(sys.argv[1:at]), sys.argv[at + 1 :]
    with tempfile.TemporaryDirectory(prefix="opera-chaos-") as folder:
        chaos = Chaos(given.workspace, Path(folder), arguments, random.Random(given.seed), given.freeze)
        document = chaos.run(given.kills, given.attacks.split(","))
    print(json.dumps(document, indent=2))
    return 1 if document["problems"] else 0


class Chaos:
    """One run of attacks."""

    def __init__(self, source: Path, folder: Path, arguments: list[str], dice: random.Random, freeze: float) -> None:
        self.source, self.folder, self.arguments, self.dice, self.freeze = source, folder, arguments, dice, freeze
        self.drivers: list[int] = []
        self.problems: list[str] = []
        self.attacks: Counter[str] = Counter()
        self.rounds = 0

    def run(self, kills: int, allowed: list[str]) -> dict[str, Any]:
        """Attacks *kills* times; returns the document."""
        began = time.monotonic()
        quiet = self.copy("quiet")
        driver = self.start(quiet)
        if not self.is_over(driver.wait()):
            raise SystemExit(self.last_words())
        seconds = time.monotonic() - began
        expected = state(quiet)
        while self.attacks.total() < kills and not self.problems:
            self.rounds += 1
            noisy = self.copy("noisy")
            self.round(noisy, kills, allowed, seconds)
            self.compare(noisy, expected)
            shutil.rmtree(noisy)
        return {
            "schema": "chaos/1", "attacks": dict(self.attacks), "campaigns": self.rounds, "starts": len(self.drivers) - 1,
            "tests": len(expected["results"]), "undisturbed_seconds": round(seconds, 2),
            "seconds": round(time.monotonic() - began, 1), "problems": self.problems,
        }  # fmt: skip

    def copy(self, name: str) -> Path:
        """A copy of the workspace."""
        return Path(shutil.copytree(self.source, self.folder / name, ignore=shutil.ignore_patterns("lock", "scratch")))

    def start(self, workspace: Path) -> subprocess.Popen[bytes]:
        """Starts the campaign in a new session, and returns its driver."""
        command = [sys.executable, "-m", "opera.run", "--strategy", "opera", *self.arguments, "-q", "--json", "--workspace", str(workspace)]
        with (self.folder / "errors").open("ab") as errors, (self.folder / "said").open("wb") as said:
            driver = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=errors, start_new_session=True)
        self.drivers.append(driver.pid)
        return driver

    def round(self, workspace: Path, kills: int, allowed: list[str], seconds: float) -> None:
        """Attacks one campaign until it completes, or until the attacks are used up and it is left to complete."""
        weights = [WEIGHTS[ATTACKS.index(each)] for each in allowed]
        while True:
            driver = self.start(workspace)
            interrupted = False
            while self.attacks.total() < kills:
                if self.ends_within(driver, self.dice.uniform(0, seconds * self.dice.choice((0.2, 0.5, 1.0)))):
                    break
                attack = self.dice.choices(allowed, weights)[0]
                self.attacks[attack] += 1
                interrupted = attack in ("interrupt", "twice")
                if self.attack(attack, driver, workspace):
                    break
            code = driver.wait()
            if self.is_over(code):
                return
            if code not in (-signal.SIGKILL, 130, -signal.SIGINT) and not (interrupted and self.never_began(code)):
                self.problems.append(f"a campaign ended with {code}: {self.last_words()}")
                return

    def is_over(self, code: int) -> bool:
        """Whether the driver that ended with *code* says that its campaign has ended."""
        return code in (0, 1) and (self.folder / "said").stat().st_size > 0

    def never_began(self, code: int) -> bool:
        """Whether Ctrl-C met the interpreter itself while it started: it ends with 1 and with a message of its own."""
        return code == 1 and "KeyboardInterrupt" in self.last_words()

    def last_words(self) -> str:
        """The end of what drivers have printed about errors."""
        return (self.folder / "errors").read_text(errors="replace")[-2000:]

    def ends_within(self, driver: subprocess.Popen[bytes], seconds: float) -> bool:
        """Waits; returns whether the driver has ended by itself."""
        with suppress(subprocess.TimeoutExpired):
            driver.wait(timeout=seconds)
            return True
        return False

    def attack(self, attack: str, driver: subprocess.Popen[bytes], workspace: Path) -> bool:
        """Does it; returns whether the driver is done for."""
        if attack == "worker":
            victims = started_by(driver.pid)
            if victims:
                send(signal.SIGKILL, [self.dice.choice(victims)])
            return False
        if attack == "freeze":
            everybody = [driver.pid, *started_by(driver.pid)]
            send(signal.SIGSTOP, everybody)
            time.sleep(self.freeze)
            self.dice.shuffle(everybody)
            send(signal.SIGCONT, everybody)
            return False
        if attack in ("interrupt", "twice"):
            send(signal.SIGINT, [driver.pid])
            if attack == "twice":
                time.sleep(self.dice.uniform(0, 0.05))
                send(signal.SIGINT, [driver.pid])
            return True
        if attack == "driver":
            driver.kill()
            driver.wait()
            return True
        everybody = [driver.pid, *children(driver.pid), *started_by(driver.pid)]
        send(signal.SIGKILL, everybody)
        driver.wait()
        if attack == "power":
            self.cut_power(workspace)
        return True

    def cut_power(self, workspace: Path) -> None:
        """What was written last is gone, from a random point on: of the log, and of files whose names were there already."""
        log = workspace / "opera.db-wal"
        if log.exists():
            os.truncate(log, self.dice.randint(0, log.stat().st_size))
            (workspace / "opera.db-shm").unlink(missing_ok=True)
        now = time.time()
        for path in sorted((workspace / "cache").glob("*/*")):
            if path.is_file() and now - path.stat().st_mtime < RECENT and self.dice.random() < 0.3:
                os.truncate(path, self.dice.choice((0, path.stat().st_size // 2)))

    def compare(self, workspace: Path, expected: dict[str, Any]) -> None:
        """Notes everything that is not as in the undisturbed campaign, and everything that was left."""
        found = state(workspace)
        for what, those in expected.items():
            missing, extra = those - found[what], found[what] - those
            if missing or extra:
                self.problems.append(f"{what}: {len(missing)} missing, {len(extra)} more: {sorted(map(str, (missing | extra)))[:4]}")
        left = [str(path.relative_to(workspace)) for pattern in (".part-*", "scratch/*") for path in workspace.rglob(pattern)]
        if left:
            self.problems.append(f"files left: {left[:5]}")
        until = time.monotonic() + 10
        while (alive := [pid for driver in self.drivers for pid in started_by(driver)]) and time.monotonic() < until:
            time.sleep(0.1)
        if alive:
            self.problems.append(f"processes left: {alive}")
        if self.problems:
            self.problems.append(f"errors: {self.last_words()}")


def state(workspace: Path) -> dict[str, Any]:
    """What a workspace says of its campaigns, as sets of rows; times and texts are left out."""
    database = sqlite3.connect(workspace / "opera.db")
    (sound,) = database.execute("PRAGMA integrity_check").fetchone()
    assert sound == "ok", sound
    results = "SELECT test, instance, compiler, frontend, route, form, seed, verdict, stage, reason, converter, fingerprint FROM results"
    rows = {
        "results": set(database.execute(results)),
        "campaigns": set(database.execute("SELECT id, complete, stopped_by FROM campaigns")),
        "campaign_tests": set(database.execute("SELECT campaign, test, place FROM campaign_tests")),
    }
    database.close()
    return rows


def started_by(driver: int) -> list[int]:
    """Processes that carry the mark of *driver*."""
    mark = f"{MARK}={driver}".encode()
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                if mark in (entry / "environ").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
    return found


def children(pid: int) -> list[int]:
    """The children of *pid*, its guardian among them."""
    with suppress(OSError):
        return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []


def send(number: signal.Signals, processes: list[int]) -> None:
    """Sends a signal to those that still live."""
    for pid in processes:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


if __name__ == "__main__":
    sys.exit(main())
