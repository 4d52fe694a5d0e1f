"""What a campaign takes from the machines of a cluster, and how a cluster on this machine is started. Ray itself is not needed."""

from __future__ import annotations

import json
import os
import sys
import types
from importlib.machinery import ModuleSpec
from typing import Any

import pytest

import opera.difftest.specs  # noqa: F401  (says what the roles may answer)
from opera.errors import EnvironmentBroken
from opera.extensions.ray.node import answer_of, event_of, hello_of
from opera.extensions.ray.pool import _started
from opera.workers.pool_protocol import Cluster
from opera.workers.process import Done
from opera.workers.protocol import ProtocolError

COMPILER = "opera.difftest.compiler_worker:CompilerWorker"
DONE: dict[str, Any] = {
    "event": "done", "result": {"is": "compared", "difference": None}, "seconds": {"run": 0.5}, "info": None, "notes": [],
}  # fmt: skip
NAME = "0" * 64


def test_an_answer_of_a_station_is_an_event_and_the_contents_of_its_files() -> None:
    document, files = answer_of((json.dumps(DONE), {NAME: b"x"}), COMPILER)
    event = event_of(document)
    assert isinstance(event, Done)
    assert event.result == DONE["result"]
    assert files == [b"x"]


@pytest.mark.parametrize(
    "value",
    [
        None,
        (json.dumps(DONE),),
        (json.dumps(DONE), {"../../x": b"x"}),
        (json.dumps(DONE), {NAME: "text"}),
        (json.dumps(DONE), {NAME.upper() + "A": b"x"}),
        (json.dumps([DONE]), {}),
        ("[" * 100_000, {}),
        (json.dumps({**DONE, "event": "new"}), {}),
        (json.dumps({**DONE, "seconds": {"run": float("nan")}}), {}),
        (json.dumps({**DONE, "result": {"is": "compared"}}), {}),
        (json.dumps({**DONE, "result": {"is": "compared", "difference": None, "outputs": "../x"}}), {}),
        (json.dumps({**DONE, "info": {"versions": {"x": 5}}}), {}),
        (json.dumps({**DONE, "notes": [{"host": "other", "event": "x"}]}), {}),
        (json.dumps({**DONE, "notes": [{}]}), {}),
        (json.dumps({**DONE, "more": 1}), {}),
        (
            json.dumps({"event": "lost", "cause": "node", "detail": "", "stage": "", "log": "", "seconds": {}, "info": None, "notes": []}),
            {},
        ),
    ],
)
def test_what_no_station_says_is_refused(value: object) -> None:
    with pytest.raises(ProtocolError):
        answer_of(value, COMPILER)


@pytest.mark.parametrize("value", [None, "{}", "[]", '{"machine": 1, "document": {}, "host": "x", "pid": 1}'])
def test_a_greeting_of_another_form_is_refused(value: object) -> None:
    with pytest.raises(ProtocolError):
        hello_of(value)


def fake_ray(monkeypatch: pytest.MonkeyPatch, *, keeps_strangers_out: bool) -> list[dict[str, Any]]:
    """A module in the place of Ray that notes how it is started."""
    calls: list[dict[str, Any]] = []
    ray, private = types.ModuleType("ray"), types.ModuleType("ray._private")
    ray.__spec__, private.__spec__ = ModuleSpec("ray", None), ModuleSpec("ray._private", None)
    ray.__path__ = private.__path__ = []
    ray.init = lambda **options: calls.append({**options, "auth": os.environ.get("RAY_AUTH_MODE")})  # type: ignore[attr-defined]
    modules = {"ray": ray, "ray._private": private}
    if keeps_strangers_out:
        modules["ray._private.authentication"] = types.ModuleType("ray._private.authentication")
        modules["ray._private.authentication"].__spec__ = ModuleSpec("ray._private.authentication", None)
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setenv("RAY_AUTH_MODE", "")
    monkeypatch.delenv("RAY_AUTH_MODE")
    return calls


def test_a_cluster_on_this_machine_asks_for_a_token_and_has_no_dashboard(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = fake_ray(monkeypatch, keeps_strangers_out=True)
    _started(Cluster(), 3)
    assert (calls[0]["address"], calls[0]["num_cpus"], calls[0]["include_dashboard"], calls[0]["auth"]) == ("local", 3, False, "token")


def test_a_cluster_of_the_user_is_taken_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = fake_ray(monkeypatch, keeps_strangers_out=False)
    _started(Cluster("10.0.0.1:6379"), 3)
    assert (calls[0]["address"], calls[0]["auth"]) == ("10.0.0.1:6379", None)


def test_a_ray_that_lets_everybody_in_starts_no_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = fake_ray(monkeypatch, keeps_strangers_out=False)
    with pytest.raises(EnvironmentBroken, match=r"install ray>=2\.52"):
        _started(Cluster(), 3)
    assert not calls
