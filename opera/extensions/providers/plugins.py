"""The plug-in providers that OPERA knows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from opera.compilers.adapter import Fork, UnsupportedRule
from opera.compilers.openvino import OpenVinoAdapter
from opera.extensions.providers.adapter import FAILURES, ProviderAdapter

_NO_VULKAN = "it needs a GPU and a driver for Vulkan; `vulkaninfo --summary` lists them, `apt install libvulkan1` installs the loader"


class OpenVinoProvider(ProviderAdapter):
    """OpenVINO's provider, on the CPU. On a processor with AMX it would compute float32 in bfloat16, which `precision` forbids."""

    name = "onnxruntime-openvino"
    plugin = "onnxruntime-ep-openvino>=1.8"
    options_of_provider = {"precision": "FP32", "num_of_threads": "1"}
    remedies = {"no device": "it takes Intel's processors only, and OPERA's `openvino` runs on others"}
    fork = Fork.STARTED
    computes_as = OpenVinoAdapter.computes_as
    message_noise = (*OpenVinoAdapter.message_noise, r"\[ONNXRuntimeError\] : .*(Exception from .*:\d+|Check 'false' failed at .*):")
    message_prefixes = (*ProviderAdapter.message_prefixes, *OpenVinoAdapter.message_prefixes, r"\[OpenVINO-EP\] \S+:\d+ - ")
    unsupported = (
        *ProviderAdapter.unsupported,
        *(replace(rule, types=FAILURES, stages=("load", "run")) for rule in OpenVinoAdapter.unsupported),
        UnsupportedRule(FAILURES, "dtype", r"\bmust be one of the supported types: "),
    )

    def chosen(self, devices: Sequence[Any]) -> Any:
        plain = (each for each in devices if "ov_meta_device" not in each.ep_metadata)  # not one that stands for several
        return next((each for each in plain if each.ep_metadata.get("ov_device") == "CPU"), devices[0])


class WebGpuProvider(ProviderAdapter):
    """The provider for WebGPU: shaders for any GPU that has a driver for Vulkan."""

    name = "onnxruntime-webgpu"
    plugin = "onnxruntime-ep-webgpu>=0.4"
    remedies = {
        "no device": f"ONNX Runtime looks for GPUs in /sys/class/drm; {_NO_VULKAN}",
        "Failed to get a WebGPU adapter": _NO_VULKAN,
        "libvulkan": _NO_VULKAN,
    }
    unsupported = (
        *ProviderAdapter.unsupported,
        UnsupportedRule(FAILURES, "no-float16", r"\brequires f16 but the device does not support it\b", stages=("load", "run")),
        UnsupportedRule(FAILURES, "declined", r"\bis not supported( yet)?\b", stages=("load", "run")),
    )


class GgmlProvider(ProviderAdapter):
    """The provider that runs models on ggml's kernels for the CPU. Its default keeps weights as float16, which `weights` forbids."""

    name = "onnxruntime-ggml"
    plugin = "onnxruntime-ggml>=0.2"
    finder = "library_path"
    options_of_provider = {"device": "cpu", "threads": "1", "weights": "f32"}
    housekeeping = {"ORT_GGML_LOG": "off", "GGML_NO_BACKTRACE": "1"}
    unsupported = (
        *ProviderAdapter.unsupported,
        UnsupportedRule(FAILURES, "declined", r"\bunsupported: ", stages=("load", "run")),
        UnsupportedRule(FAILURES, "declined", r"\bconv(_transpose)?1d wants 3-D tensors\b", stages=("load", "run")),
    )
    fork = Fork.STARTED


class TensorRtRtxProvider(ProviderAdapter):
    """The provider of TensorRT for RTX."""

    name = "onnxruntime-tensorrt-rtx"
    plugin = "onnxruntime-ep-nv-tensorrt-rtx>=0.5"
    remedies = {
        "libcuda.so": "it needs an NVIDIA driver and an RTX GPU; without them `tensorrt` builds the same networks",
        "no device": "it needs an RTX GPU; without one `tensorrt` builds the same networks",
    }
