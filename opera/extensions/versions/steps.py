"""One step of a bisection: a failure on one version of its compiler, by the campaign engine or by a recorded script."""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from opera.compilers.adapter import declined
from opera.compilers.registry import known_adapter, noise_of
from opera.config import Config
from opera.difftest.judge import headline
from opera.difftest.runner import FRESH, TestCase, TestOutcome, TestRunner
from opera.extensions.findings.recorded import Row, Shown, says, shown
from opera.extensions.findings.recorded import State as Seen
from opera.extensions.versions.search import Outcome, State
from opera.models.forms import ModelForm
from opera.models.opsets import NEWEST, OLDEST
from opera.oracles.fingerprint import ELEMENTS, NEWER_OPSET, Symptom, summary
from opera.oracles.verdict import Failure, Frame, Verdict
from opera.report.reproducer import difference_shown

At = Callable[[str], Config]
"""Gives the settings of a version."""
_OPSET = re.compile(r'(make_opsetid\("(?:ai\.onnx)?", |opset_import: \["(?:ai\.onnx)?" ?: )(\d+)')
_IR = re.compile(r"(\bir_version(?:=|: ))(\d+)")
_FIRST_IR = ((25, 13), (24, 12), (23, 11), (21, 10), (19, 9), (0, 8))
"""The version of ONNX's format that each opset needs, the newest first; https://github.com/onnx/onnx/blob/main/docs/Versioning.md."""
_RAISED = re.compile(r"^([A-Za-z_][\w.]*)(?:: (.*))?$")
_FRAME = re.compile(r'^ +File ".*/(?:site|dist)-packages/([\w/]+?)(?:/__init__)?\.py", line \d+')
_STAGES = ("load", "compile", "codegen", "run")


def is_alike(one: Symptom, other: Symptom) -> bool:
    """Whether two failures of one call are in one class. Versions differ in their code, so frames and names of functions do not count."""
    if one.verdict is not other.verdict:
        return False
    if one.verdict is Verdict.INCONSISTENT:
        return one.kind == other.kind or {one.kind, other.kind} <= set(ELEMENTS)
    if one.verdict is Verdict.CRASH:
        return one.kind == other.kind and says(one.message, other.message)
    return one.kind == other.kind


@dataclass(frozen=True)
class EngineStep:
    """A test, run by the workers of a campaign.

    Attributes:
        case: The instance and the form of its model.
        symptom: The failure that is looked for.
    """

    case: TestCase
    symptom: Symptom

    def run(self, runner: TestRunner) -> Outcome:
        """The outcome on the version that *runner* has, seen twice: the second time in fresh processes."""
        began = time.monotonic()
        state, said = self._seen(*self._declared(runner), runner)
        return Outcome(state, said, time.monotonic() - began)

    def _declared(self, runner: TestRunner) -> tuple[TestCase, TestOutcome]:
        """The case and its outcome; where the version does not know the opset of the model, at the newest older one that says the same."""
        outcome = runner.run(self.case, roles=runner.roles_for(self.symptom.verdict))
        if not _is_newer(outcome):
            return self.case, outcome
        form = ModelForm.parse(self.case.form)
        for opset in range((form.opset or NEWEST) - 1, OLDEST - 1, -1):
            older = replace(self.case, form=str(replace(form, opset=opset)))
            found = runner.run(older, roles=runner.roles_for(self.symptom.verdict))
            if not _is_newer(found) and found.judgement.verdict is not Verdict.INVALID:
                return older, found
        return self.case, outcome

    def _seen(self, case: TestCase, outcome: TestOutcome, runner: TestRunner) -> tuple[State, str]:
        judgement = outcome.judgement
        state, said = self._state(outcome, runner)
        if state is State.UNRUNNABLE:
            return state, said
        again, _ = self._state(runner.run(case, roles=FRESH), runner)
        if again is not state:
            return State.UNRUNNABLE, f"contradicts itself: {state.value}, then {again.value}"
        opset = ModelForm.parse(case.form).opset
        declared = f" (at opset {opset})" if case is not self.case and opset else ""
        return state, f"{said or judgement.verdict.value}{declared}"

    def _state(self, outcome: TestOutcome, runner: TestRunner) -> tuple[State, str]:
        judgement = outcome.judgement
        if judgement.verdict is Verdict.PASS:
            return State.GOOD, "same result as the library"
        if not judgement.verdict.is_failure:
            return State.UNRUNNABLE, f"{judgement.verdict.value}{f': {judgement.reason}' if judgement.reason else ''}"
        said = headline(judgement.verdict, judgement.detail, runner.settings.compiler)
        alike = is_alike(self.symptom, judgement.symptom(runner.settings.subject))
        return (State.BAD if alike else State.OTHER), said


def _is_newer(outcome: TestOutcome) -> bool:
    return outcome.judgement.verdict is Verdict.UNSUPPORTED and outcome.judgement.reason == NEWER_OPSET


@dataclass
class ScriptStep:
    """A recorded script, run by the interpreter of a version.

    What the script shows in the compiler's usual environment, for which it was written, decides what to look for; if it shows nothing
    there, its row does, until a version fails as the row says.

    Attributes:
        script: Its file.
        row: What its table says of it.
        compiler: Its compiler.
        at: Gives the settings of a version.
        usual: The settings without a version.
    """

    script: Path
    row: Row
    compiler: str
    at: At
    usual: Config
    _usually: Shown | None = None
    _wanted: Shown | None = None
    _control: Config | None = None
    """Settings with which the script fails: one that is rewritten for an older opset still has to fail there."""

    def run(self, version: str, *, again: bool = False) -> Outcome:
        """The outcome on *version*. The exit code says little: words, kinds of differences and signals are compared.

        Args:
            version: A version that `at` knows.
            again: Whether the script runs also where its outcome is known.
        """
        began = time.monotonic()
        if self._usually is None:
            self._usually = shown(self.script, self.compiler, self.row, self.usual)
            self._look_for(self._usually, self.usual)
        config = self.at(version)
        found = self._usually if config is self.usual and not again else shown(self.script, self.compiler, self.row, config)
        state, said = self._state(found)
        if state is State.BAD and self._wanted is None:
            self._look_for(found, config)
        if state is State.UNRUNNABLE and said == NEWER_OPSET:
            state, said = self._rewritten(config)
        return Outcome(state, said, time.monotonic() - began)

    def _look_for(self, found: Shown, config: Config) -> None:
        self._control = config
        raised = raised_in(found.output)
        declines = raised is not None and declined_as(raised, self.compiler) is not None
        if found.state is Seen.FAILS or (found.state is Seen.OTHERWISE and not declines):
            self._wanted = found

    def _rewritten(self, config: Config) -> tuple[State, str]:
        """The outcome of the script with an older opset, the newest one that the version knows."""
        assert self._control is not None
        text = self.script.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            older = Path(folder) / self.script.name
            for opset in range(max(map(int, (found[1] for found in _OPSET.findall(text))), default=OLDEST), OLDEST - 1, -1):
                older.write_text(at_opset(text, opset), encoding="utf-8")
                state, said = self._state(shown(older, self.compiler, self.row, config))
                if (state, said) != (State.UNRUNNABLE, NEWER_OPSET):
                    control, _ = self._state(shown(older, self.compiler, self.row, self._control))
                    if control is State.BAD:
                        return state, f"{said} (at opset {opset})"
                    return State.UNRUNNABLE, f"{NEWER_OPSET}: at opset {opset} the script shows nothing"
        return State.UNRUNNABLE, NEWER_OPSET

    def _state(self, found: Shown) -> tuple[State, str]:
        if found.state in (Seen.MENDED, Seen.FIXED):
            return State.GOOD, found.said
        if found.state is Seen.MISSING:
            return State.UNRUNNABLE, found.said
        failure = raised_in(found.output)
        said = found.said
        if failure is not None:
            said = f"{failure['type'].rpartition('.')[2]}: {summary(str(failure['message']), noise_of(self.compiler))}"
        if found.state is Seen.FAILS if self._wanted is None else shows_alike(self._wanted, found):
            return State.BAD, said
        reason = None if failure is None else declined_as(failure, self.compiler)
        return (State.OTHER, said) if reason is None else (State.UNRUNNABLE, reason)


def shows_alike(one: Shown, other: Shown) -> bool:
    """Whether a script failed in one class twice: the same kind of difference, the same exception with the same words, or the same end."""
    kind = difference_shown(one.output)
    if kind is not None or difference_shown(other.output) is not None:
        return kind == difference_shown(other.output)
    raised, found = raised_in(one.output), raised_in(other.output)
    if raised is None or found is None:
        return raised is found and one.said == other.said
    return raised["type"] == found["type"] and says(str(raised["message"]), str(found["message"]))


def declined_as(failure: Failure, compiler: str) -> str | None:
    """The reason code if *failure* means that the compiler declines the model, in its own typed way; None if it does not."""
    adapter = known_adapter(compiler)
    found = (declined(adapter.unsupported, failure, stage) for stage in _STAGES if adapter is not None)
    return next((each.reason for each in found if each is not None), None)


def raised_in(output: str) -> Failure | None:
    """The exception that ended a script, from the end of its *output*; None without a traceback."""
    _, trace, text = output.rpartition("Traceback (most recent call last):\n")
    lines = text.splitlines()
    place = next((index for index, line in enumerate(lines) if line and not line.startswith(" ") and _RAISED.match(line)), None)
    if not trace or place is None:
        return None
    match = _RAISED.match(lines[place])
    assert match is not None
    frames: list[Frame] = [(str(found[1]).replace("/", "."), "", 0, "") for line in lines[:place] if (found := _FRAME.match(line))]
    message = "\n".join([match[2] or "", *lines[place + 1 :]])
    return Failure(type=match[1], bases=[], message=message, frames=frames)


def at_opset(text: str, opset: int) -> str:
    """A script whose model declares *opset* at most, and the version of ONNX's format that it needs."""
    needed: Mapping[str, int] = {"ir": next(ir for first, ir in _FIRST_IR if opset >= first)}
    lower = _OPSET.sub(lambda match: f"{match[1]}{min(int(match[2]), opset)}", text)
    return _IR.sub(lambda match: f"{match[1]}{min(int(match[2]), needed['ir'])}", lower)
