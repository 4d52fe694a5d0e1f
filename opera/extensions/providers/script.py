"""How a script of a finding drives a plug-in provider."""

from __future__ import annotations

import json
from collections.abc import Mapping

_MODELS = {
    "onnx": ("", "model", "inputs"),
    "pytorch": (
        "exported = torch.onnx.export(torch.export.export(model, inputs), dynamo=True, verbose=False)\n",
        "exported.model_proto",
        "{entry.name: {{ array }} for entry, value in zip(session.get_inputs(), inputs)}",
    ),
}
_TEXT = """\
import onnxruntime as ort
import MODULE as plugin

known = {each.ep_name for each in ort.get_ep_devices()}
ort.register_execution_provider_library("NAME", plugin.FINDER())
devices = [each for each in ort.get_ep_devices() if each.ep_name not in known]
options = ort.SessionOptions()
options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL  # constants would be folded on the CPU
options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
options.add_provider_for_devices(devices[:1], OPTIONS)
EXPORTED{{ to_compile }}session = ort.InferenceSession(MODEL.SerializeToString(), options, enable_fallback=0)
{{ to_run }}actual = session.run(None, INPUTS)
"""


def registered_as(module: str) -> str:
    """The name that ONNX Runtime gets for a plug-in's library; ggml's takes it for the name of its provider."""
    return module.removeprefix("onnxruntime_").removeprefix("ep_")


def of(module: str, finder: str, options: Mapping[str, str]) -> dict[str, str]:
    """By frontend, the text of a template; empty where no plug-in is named."""
    found: dict[str, str] = {}
    for frontend, (exported, model, inputs) in _MODELS.items() if module else ():
        values = {"MODULE": module, "NAME": registered_as(module), "FINDER": finder, "OPTIONS": json.dumps(options), "EXPORTED": exported}
        text = _TEXT.replace("MODEL", model).replace("INPUTS", inputs)
        for name, value in values.items():
            text = text.replace(name, value)
        found[frontend] = text
    return found
