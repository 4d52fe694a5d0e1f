"""Plug-in execution providers of ONNX Runtime: libraries that it loads, each in a Python package of its own.

Nothing that the CPU provider computes counts as a provider's. ONNX Runtime has four ways to run a node on the CPU without a word:

- It assigns the nodes that a provider does not take to the CPU: `session.disable_cpu_ep_fallback` refuses that.
- It does so inside the branches of `If` and the bodies of loops, where ONNX Runtime 1.30 does not look: the assignment is read and checked.
- `InferenceSession` catches a provider's exception and tries again on the CPU: `enable_fallback=0`.
- It folds constants on the CPU, so a model whose inputs are constants never reaches the provider: no optimisation.
"""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Mapping, Sequence
from importlib import metadata
from typing import Any, ClassVar

from opera.compilers import onnx_format
from opera.compilers.adapter import GENERAL_FORM, Fork, Route, Stage, Subject, UnsupportedRule, declined
from opera.compilers.onnxruntime import OnnxRuntimeAdapter
from opera.extensions.providers import script
from opera.models import onnx_inputs
from opera.workers.failure import describe

_STATE = "onnxruntime.capi.onnxruntime_pybind11_state"
_CPU = "CPUExecutionProvider"
_ON_CPU = r"\bnodes that are assigned to the default CPU EP, but fallback to CPU EP has been explicitly disabled\b"
_NOT_ASSIGNED = r"\bProvider type for \w+ node with name '.*' is not set\b"
_MOST_SHOWN = 200
"""Characters of ONNX Runtime's reason that are shown."""
FAILURES = tuple(f"{_STATE}.{name}" for name in ("Fail", "NotImplemented", "InvalidArgument", "InvalidGraph", "RuntimeException", "EPFail"))
"""What ONNX Runtime raises where a provider does not take a model."""


class FellBack(Exception):
    """ONNX Runtime runs a node on the CPU, or there is no node to run."""


class FailsAlike(Exception):
    """ONNX Runtime refuses the model with the same words on the CPU provider, so the plug-in has no part in it."""


class ProviderAdapter(OnnxRuntimeAdapter):
    """Base of the adapters of plug-in providers. A subclass says which package holds the plug-in, and which options it needs.

    Attributes:
        plugin: Requirement of the package. The package's module has its name, with `_` for `-`.
        finder: Function of the module that returns the path of the library.
        options_of_provider: Options for the provider.
        remedies: What helps, by a part of the message of a provider that does not load, has no device or does not start; `no device` stands
            for the second.
    """

    plugin: ClassVar[str] = ""
    finder: ClassVar[str] = "get_library_path"
    options_of_provider: ClassVar[Mapping[str, str]] = {}
    remedies: ClassVar[Mapping[str, str]] = {}

    routes = (Route("onnx", "onnx", "onnx"), Route("pytorch", "onnx", "onnx"))
    levels = ()
    rejections = ()
    issue_form = GENERAL_FORM
    fork = Fork.NEVER
    unsupported = (
        UnsupportedRule(FAILURES, "no-kernel", _ON_CPU),
        UnsupportedRule(FAILURES, "no-kernel", _NOT_ASSIGNED),
        UnsupportedRule((f"{__name__}.FellBack",), "no-kernel"),
        *OnnxRuntimeAdapter.unsupported,
        UnsupportedRule((f"{__name__}.FailsAlike",), "fails-without-provider"),
    )

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "packages" not in cls.__dict__:
            cls.packages = (*((cls.plugin,) if cls.plugin else ()), "onnxruntime>=1.29", "onnx>=1.19")
        if "reproducer" not in cls.__dict__:
            cls.reproducer = script.of(cls.module(), cls.finder, cls.options_of_provider)

    @classmethod
    def package(cls) -> str:
        """The name of the plug-in's package; empty where none is named."""
        return re.split(r"[^\w.-]", cls.plugin.strip())[0]

    @classmethod
    def module(cls) -> str:
        """The module of the plug-in's package."""
        return cls.package().replace("-", "_")

    def start(self) -> Mapping[str, str]:
        self._ort: Any = importlib.import_module("onnxruntime")
        self._onnx: Any = importlib.import_module("onnx")
        device = self._registered()
        options = self._session_options = self._ort.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4
        options.graph_optimization_level = self._ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
        options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
        options.add_provider_for_devices([device], dict(self.options_of_provider))
        self._left_out = []
        if self.fork is Fork.NEVER and (fault := self._fault()):
            raise RuntimeError(self._said("does not start", fault))
        return {
            self.module(): metadata.version(self.package()),
            "onnxruntime": str(self._ort.__version__),
            "provider": str(device.ep_name),
            "device": _described(device),
            "options": " ".join(f"{name}={value}" for name, value in self.options_of_provider.items()) or "none",
        }

    def _registered(self) -> Any:
        """Loads the plug-in; returns the device that it is to use."""
        plugin = importlib.import_module(self.module())
        find = getattr(plugin, self.finder, None)
        if find is None:
            raise RuntimeError(f"{self.module()} has no {self.finder}, so it is no plug-in of ONNX Runtime")
        known = {each.ep_name for each in self._ort.get_ep_devices()}
        try:
            self._ort.register_execution_provider_library(script.registered_as(self.module()), os.fspath(find()))
        except Exception as error:
            raise RuntimeError(self._said("does not load", error)) from error
        devices = [each for each in self._ort.get_ep_devices() if each.ep_name not in known]
        if not devices:
            raise RuntimeError(self._said("offers no device on this machine", ""))
        return self.chosen(devices)

    def chosen(self, devices: Sequence[Any]) -> Any:
        """The device that the provider is to use, of those that it offers."""
        return devices[0]

    def _said(self, what: str, why: object) -> str:
        """What is wrong with the provider, and what helps."""
        text = " ".join(str(why).rpartition("with error: ")[2].split())
        remedy = next((remedy for part, remedy in self.remedies.items() if part in (text or what)), "")
        return "; ".join(filter(None, (f"the provider of {self.package()} {what}", text[:_MOST_SHOWN], remedy)))

    def _fault(self) -> Exception | None:
        """What a model of one addition raises."""
        made = self._onnx.helper
        entries = [made.make_tensor_value_info(name, self._onnx.TensorProto.FLOAT, [1]) for name in "xy"]
        graph = made.make_graph([made.make_node("Add", ["x", "x"], ["y"])], "g", entries[:1], entries[1:])
        model = made.make_model(graph, opset_imports=[made.make_opsetid("", 13)], ir_version=8)
        try:
            self._session(model.SerializeToString()).run(None, {"x": importlib.import_module("numpy").ones(1, "float32")})
        except Exception as error:
            return error
        return None

    def _session(self, data: bytes) -> Any:
        return self._ort.InferenceSession(data, self._session_options, enable_fallback=0)

    def load(self, subject: Subject, stage: Stage) -> Any:
        model = onnx_format.parse(subject.data)
        try:
            session = self._session(subject.data)
        except Exception as error:
            if declined(self.unsupported, describe(error), "load") is None and str(error) == self._on_cpu(subject.data):
                raise FailsAlike(str(error)) from error
            raise
        parts = session.get_provider_graph_assignment_info()
        fallen = [str(node.op_type) for part in parts if part.ep_name == _CPU for node in part.get_nodes()]
        if fallen:
            raise FellBack(f"ONNX Runtime assigns {', '.join(dict.fromkeys(fallen))} in a nested graph to the CPU")
        if all(node.op_type == "Constant" for node in model.graph.node):
            raise FellBack("the model has only constants, and ONNX Runtime gives those without a provider")
        return session, onnx_inputs.feeds(model, subject.inputs)

    def _on_cpu(self, data: bytes) -> str:
        """What ONNX Runtime says of a model without the plug-in; empty where it takes the model."""
        options = self._ort.SessionOptions()
        options.log_severity_level = 4
        options.graph_optimization_level = self._ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        try:
            self._ort.InferenceSession(data, options, providers=[_CPU])
        except Exception as error:
            return str(error)
        return ""

    def signature(self, compiled: Any, subject: Subject) -> None:
        """Nothing: what a session states is what ONNX Runtime infers, whatever its provider."""

    def is_spent(self) -> bool:
        return self.fork is Fork.NEVER and self._fault() is not None

    def converters(self, subject: Subject) -> Sequence[str]:
        """The operators of the model: a provider does not list its kernels."""
        return [str(node.op_type) for node in onnx_format.parse(subject.data).graph.node]


def _described(device: Any) -> str:
    """The kind of a device and its numbers, which decide results."""
    kind = str(device.device.type).rpartition(".")[2]
    return f"{kind} {device.device.vendor or ''} {device.device.vendor_id:04x}:{device.device.device_id:04x}".replace("  ", " ")
