"""A role that does what its task says."""

from __future__ import annotations

import os
from typing import Any

from opera.workers.child import Stages


class Obedient:
    """Runs the code of a task; the result is what the code leaves in `value`."""

    spent = False

    def __init__(self, options: dict[str, Any]) -> None:
        self.options = options

    def ready(self) -> dict[str, Any]:
        if "broken" in self.options:
            raise ImportError(self.options["broken"])
        exec(self.options.get("start", ""))
        return {"pid": os.getpid(), "options": self.options, "cwd": os.getcwd(), "seed": os.environ["PYTHONHASHSEED"]}

    def handle(self, task: dict[str, Any], stages: Stages) -> dict[str, Any]:
        stages.enter(task.get("stage", "work"))
        scope: dict[str, Any] = {"stages": stages, "self": self}
        exec(task.get("do", ""), scope)
        return {"pid": os.getpid(), "value": scope.get("value")}
