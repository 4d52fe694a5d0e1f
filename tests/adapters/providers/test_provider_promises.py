"""What the adapters of plug-in providers promise: nothing runs on the CPU unseen, and a provider that does not work says what helps."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

from opera.compilers.adapter import Subject, declined
from opera.extensions.providers import adapter, script
from opera.extensions.providers.adapter import ProviderAdapter
from opera.extensions.providers.plugins import GgmlProvider, OpenVinoProvider, TensorRtRtxProvider, WebGpuProvider
from opera.workers.failure import describe, raised_by

MESSAGES = json.loads((Path(__file__).parent / "messages.json").read_text(encoding="utf-8"))
NOT_ASSIGNED = "[ONNXRuntimeError] : 1 : FAIL : Provider type for Range node with name '' is not set."
NO_CUDA = (
    "[ONNXRuntimeError] : 1 : FAIL : Failed to load library /e/libonnxruntime_providers_nv_tensorrt_rtx.so with error: libcuda.so.1:"
    " cannot open shared object file: No such file or directory"
)
NO_ADAPTER = "Error creating execution provider: adapter_result.status == Success was false. Failed to get a WebGPU adapter"


class Fail(Exception):
    """As ONNX Runtime's own."""


Fail.__module__ = "onnxruntime.capi.onnxruntime_pybind11_state"


def device(name: str = "ownExecutionProvider", **metadata: str) -> Any:
    hardware = SimpleNamespace(type="OrtHardwareDeviceType.CPU", vendor="AMD", vendor_id=0x1022, device_id=0, metadata={})
    return SimpleNamespace(ep_name=name, device=hardware, ep_metadata=metadata)


class FakeRuntime(ModuleType):
    """ONNX Runtime with one plug-in: *loads*, *devices* and *session* say how it behaves; it notes how sessions are made."""

    GraphOptimizationLevel = SimpleNamespace(ORT_DISABLE_ALL="none", ORT_ENABLE_ALL="all")
    __version__ = "1.30.0"

    def __init__(self) -> None:
        super().__init__("onnxruntime")
        self.loads: Exception | None = None
        self.devices: Sequence[Any] = [device()]
        self.session: Callable[[bool], Any] = lambda on_cpu: self.assigned({"ownExecutionProvider": ["Add"]})
        self.registered: list[tuple[str, str]] = []
        self.made: list[tuple[dict[str, str], str, dict[str, Any]]] = []

    def SessionOptions(self) -> Any:
        entries: dict[str, str] = {}
        return SimpleNamespace(
            entries=entries,
            add_session_config_entry=entries.__setitem__,
            add_provider_for_devices=lambda devices, options: entries.update({"devices": len(devices), **options}),
        )

    def register_execution_provider_library(self, name: str, path: str) -> None:
        if self.loads is not None:
            raise self.loads
        self.registered.append((name, path))

    def get_ep_devices(self) -> Sequence[Any]:
        return [device("CPUExecutionProvider"), *(self.devices if self.registered else ())]

    def InferenceSession(self, data: bytes, options: Any, **more: Any) -> Any:
        self.made.append((dict(options.entries), options.graph_optimization_level, more))
        return self.session("providers" in more)

    @staticmethod
    def assigned(nodes: dict[str, list[str]]) -> Any:
        parts = [
            SimpleNamespace(ep_name=name, get_nodes=lambda own=own: [SimpleNamespace(op_type=each) for each in own])
            for name, own in nodes.items()
        ]
        return SimpleNamespace(get_provider_graph_assignment_info=lambda: parts, run=lambda names, feeds: [])


@pytest.fixture
def runtime(monkeypatch: pytest.MonkeyPatch) -> FakeRuntime:
    fake = FakeRuntime()
    monkeypatch.setitem(sys.modules, "onnxruntime", fake)
    monkeypatch.setattr(adapter.metadata, "version", lambda name: "1.0")
    return fake


class OwnProvider(ProviderAdapter):
    """A provider of a third party, whose package is `own-ep`."""

    name = "own"
    plugin = "own-ep>=1"
    options_of_provider = {"precision": "FP32"}
    remedies = {"libown": "install libown"}


@pytest.fixture(autouse=True)
def own_ep(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("own_ep", *(each.module() for each in (WebGpuProvider, TensorRtRtxProvider, OpenVinoProvider, GgmlProvider))):
        module = ModuleType(name)
        module.__dict__["library_path" if "ggml" in name else "get_library_path"] = lambda: "/e/libown.so"
        monkeypatch.setitem(sys.modules, name, module)


def model(*operators: str) -> bytes:
    entries = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in "xy"]
    nodes = [helper.make_node(each, [] if each == "Constant" else ["x"], ["y"]) for each in operators]
    made: bytes = helper.make_model(helper.make_graph(nodes, "g", entries[:1], entries[1:])).SerializeToString()
    return made


def loaded(made: ProviderAdapter, data: bytes) -> Any:
    return made.load(Subject(made.routes[0], data, {"x": np.ones(1, np.float32)}, 1, lambda: None), lambda stage: None)  # type: ignore[arg-type, return-value]


def reason(made: ProviderAdapter, data: bytes) -> str | None:
    """The reason for which the adapter declines a model, None if it does not; and no failure is taken for the adapter's own fault."""
    with pytest.raises((Fail, adapter.FellBack, adapter.FailsAlike)) as caught:
        loaded(made, data)
    assert not raised_by(caught.value, adapter.__name__)
    rule = declined(made.unsupported, describe(caught.value), "load")
    return rule and rule.reason


def test_sessions_refuse_the_cpu_in_every_way_that_onnx_runtime_has(runtime: FakeRuntime) -> None:
    made = OwnProvider({})
    made.start()
    loaded(made, model("Relu"))
    for entries, level, more in runtime.made:
        assert entries["session.disable_cpu_ep_fallback"] == "1"
        assert entries["session.record_ep_graph_assignment_info"] == "1"
        assert (entries["devices"], entries["precision"]) == (1, "FP32")
        assert level == "none"
        assert more == {"enable_fallback": 0}
    assert len(runtime.made) == 2, "a model of one addition when it starts, and the model"


def test_a_node_of_a_nested_graph_on_the_cpu_is_not_counted_as_the_providers(runtime: FakeRuntime) -> None:
    made = OwnProvider({})
    made.start()
    runtime.session = lambda on_cpu: runtime.assigned({"ownExecutionProvider": ["If"], "CPUExecutionProvider": ["Det"]})
    assert reason(made, model("Relu")) == "no-kernel"


def test_a_model_of_constants_is_not_counted_as_the_providers(runtime: FakeRuntime) -> None:
    made = OwnProvider({})
    made.start()
    assert reason(made, model("Constant")) == "no-kernel"
    loaded(made, model("Constant", "Relu"))


def test_a_failure_that_the_cpu_shows_alike_is_not_the_providers(runtime: FakeRuntime) -> None:
    made = OwnProvider({})
    made.start()

    def failing(on_cpu: bool) -> Any:
        raise Fail("Type Error: Type (tensor(float)) of output arg" if on_cpu else text)

    runtime.session = failing
    text = "Type Error: Type (tensor(float)) of output arg"
    assert reason(made, model("Relu")) == "fails-without-provider"
    text = "Input names mismatch"
    assert reason(made, model("Relu")) is None


def test_the_device_that_has_died_ends_the_process_and_a_living_one_does_not(runtime: FakeRuntime) -> None:
    made = OwnProvider({})
    made.start()
    assert not made.is_spent()

    def lost(on_cpu: bool) -> Any:
        raise Fail("the device is lost")

    runtime.session = lost
    assert made.is_spent()


@pytest.mark.parametrize(
    ("kind", "message", "said"),
    [
        (
            OwnProvider,
            "with error: libown.so.1: cannot open",
            "the provider of own-ep does not load; libown.so.1: cannot open; install libown",
        ),
        (
            TensorRtRtxProvider,
            NO_CUDA,
            "the provider of onnxruntime-ep-nv-tensorrt-rtx does not load; libcuda.so.1: cannot open shared object file: No such file or"
            " directory; it needs an NVIDIA driver and an RTX GPU",
        ),
    ],
)
def test_a_library_that_does_not_load_is_said_with_what_helps(
    runtime: FakeRuntime, kind: type[ProviderAdapter], message: str, said: str
) -> None:
    runtime.loads = Fail(message)
    with pytest.raises(RuntimeError) as caught:
        kind({}).start()
    assert str(caught.value).startswith(said)


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (OpenVinoProvider, "the provider of onnxruntime-ep-openvino offers no device on this machine; it takes Intel's"),
        (
            WebGpuProvider,
            "the provider of onnxruntime-ep-webgpu offers no device on this machine; ONNX Runtime looks for GPUs in /sys",
        ),
        (TensorRtRtxProvider, "the provider of onnxruntime-ep-nv-tensorrt-rtx offers no device on this machine; it needs an RTX GPU"),
        (GgmlProvider, "the provider of onnxruntime-ggml offers no device on this machine"),
    ],
)
def test_a_provider_without_a_device_is_said_with_what_helps(runtime: FakeRuntime, kind: type[ProviderAdapter], said: str) -> None:
    runtime.devices = []
    with pytest.raises(RuntimeError) as caught:
        kind({}).start()
    assert str(caught.value).startswith(said)


def test_a_gpu_without_vulkan_is_said_before_any_test(runtime: FakeRuntime) -> None:
    def failing(on_cpu: bool) -> Any:
        raise RuntimeError(NO_ADAPTER)

    runtime.session = failing
    with pytest.raises(RuntimeError) as caught:
        WebGpuProvider({}).start()
    assert "onnxruntime-ep-webgpu does not start; " in str(caught.value)
    assert str(caught.value).endswith("`vulkaninfo --summary` lists them, `apt install libvulkan1` installs the loader")


def test_a_package_that_is_no_plugin_is_said(runtime: FakeRuntime, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "own_ep", ModuleType("own_ep"))
    with pytest.raises(RuntimeError, match="own_ep has no get_library_path, so it is no plug-in"):
        OwnProvider({}).start()


def test_openvino_runs_on_the_processor_and_not_on_a_device_that_stands_for_several() -> None:
    offered = [device(ov_device="GPU"), device(ov_device="CPU", ov_meta_device="AUTO"), wanted := device(ov_device="CPU")]
    assert OpenVinoProvider({}).chosen(offered) is wanted
    assert OpenVinoProvider.options_of_provider["precision"] == "FP32"


def test_what_start_says_names_package_device_and_options(runtime: FakeRuntime) -> None:
    assert OwnProvider({}).start() == {
        "own_ep": "1.0",
        "onnxruntime": "1.30.0",
        "provider": "ownExecutionProvider",
        "device": "CPU AMD 1022:0000",
        "options": "precision=FP32",
    }
    assert OwnProvider.packages == ("own-ep>=1", "onnxruntime>=1.29", "onnx>=1.19")
    more = type("More", (OwnProvider,), {"packages": ("own-ep>=1", "own-driver"), "reproducer": {}})
    assert (more.packages, more.reproducer) == (("own-ep>=1", "own-driver"), {}), "unless the class says it"


def test_the_provider_of_the_how_to_is_an_adapter() -> None:
    page = (Path(__file__).parents[3] / "docs" / "how-to" / "add-a-compiler.md").read_text(encoding="utf-8")
    code = page.partition("## A plug-in provider")[2].partition("```python\n")[2].partition("```")[0]
    names: dict[str, Any] = {"__name__": "their_module"}
    exec(code, names)
    own = names["OwnProvider"]
    assert own.packages[0] == "our-ep>=1.0"
    assert "import our_ep as plugin" in own.reproducer["onnx"]
    failure: Any = {"type": adapter.FAILURES[0], "message": "Conv: our provider has no such layout", "frames": [], "bases": []}
    assert declined(own.unsupported, failure, "run") is not None


@pytest.mark.parametrize("entry", MESSAGES, ids=lambda entry: entry["name"])
def test_rules_meet_the_messages_of_real_providers_and_no_fault(entry: dict[str, Any]) -> None:
    kinds = {kind.name: kind for kind in (GgmlProvider, WebGpuProvider, OpenVinoProvider)}
    failure: Any = {"type": entry["type"], "message": entry["message"], "frames": [], "bases": []}
    rule = declined(kinds[entry["provider"]].unsupported, failure, entry["stage"])
    assert (rule and rule.reason) == entry["reason"]
    assert (entry["reason"] is None) is entry["name"].startswith("fault")


def test_a_script_refuses_the_cpu_as_the_adapter_does() -> None:
    texts = [OwnProvider.reproducer["onnx"], OwnProvider.reproducer["pytorch"]]
    for text in texts:
        assert "import own_ep as plugin" in text
        assert 'options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")' in text
        assert "enable_fallback=0" in text
        assert '{"precision": "FP32"}' in text
        assert not {"MODULE", "NAME", "FINDER", "OPTIONS", "EXPORTED", "MODEL", "INPUTS"} & set(text.split())
    assert [script.registered_as(each.module()) for each in (GgmlProvider, WebGpuProvider, OwnProvider)] == ["ggml", "webgpu", "own_ep"]


NAMED = "[compiler.onnxruntime-plugin]\nenv = {ONNXRUNTIME_EP = 'their-ep>=2', ONNXRUNTIME_EP_OPTIONS = 'device=cpu threads=1'}\n"


def told(folder: Path, code: str) -> str:
    command = [sys.executable, "-c", f"from opera.extensions.providers.named import NamedProvider as named; {code}"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout.strip()


def test_a_users_plugin_is_named_in_the_settings(tmp_path: Path) -> None:
    (tmp_path / "opera.toml").write_text(NAMED)
    said = told(tmp_path, "print(named.module(), named.packages[0], dict(named.options_of_provider))")
    assert said == "their_ep their-ep>=2 {'device': 'cpu', 'threads': '1'}"


@pytest.mark.parametrize(
    "command", [("doctor", "--compiler", "onnxruntime-plugin"), ("run", "--compiler", "onnxruntime-plugin", "--frontend", "onnx")]
)
def test_without_a_name_commands_say_where_to_write_it(command: tuple[str, ...], tmp_path: Path) -> None:
    run = subprocess.run([sys.executable, "-m", "opera", *command], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == (3 if command[0] == "doctor" else 2)
    said = " ".join((run.stdout + run.stderr).split())
    assert (
        'no package with a plug-in is named; write env = {ONNXRUNTIME_EP = "PACKAGE"} under [compiler.onnxruntime-plugin] into opera.toml'
        in said
    )
    assert "BROKEN" not in said


def test_the_guides_example_is_an_adapter() -> None:
    guide = Path(__file__).parents[3] / "docs" / "how-to" / "add-a-compiler.md"
    (block,) = re.findall(r"^```python\n(.*?)^```$", guide.read_text(encoding="utf-8").partition("## A plug-in provider")[2], re.M | re.S)
    space: dict[str, Any] = {}
    exec(block, space)
    own = space["OwnProvider"]
    assert issubclass(own, ProviderAdapter)
    assert own.packages[0] == own.plugin == "our-ep>=1.0"
    assert own.module() == "our_ep"
    assert own.unsupported[-1].reason == "declined"
