"""What the adapter of TensorRT says of a machine, of its packages, and of the messages of TensorRT for RTX 1.7."""

from __future__ import annotations

import ctypes
import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from opera.compilers.adapter import declined
from opera.environments.inventory import Distribution, Inventory, lacks, wanted
from opera.extensions.tensorrt import adapter, card
from opera.extensions.tensorrt.adapter import TensorRtAdapter
from opera.extensions.tensorrt.memory import Memory

RTX_BINDINGS = "tensorrt_rtx_cu13_bindings"
MESSAGES = json.loads((Path(__file__).parent / "messages.json").read_text(encoding="utf-8"))


class FakeDriver:
    """A CUDA driver: *errors* says by function which status it gives; its memory is that of this process."""

    def __init__(self, capability: int = 89, **errors: int) -> None:
        self._capability = capability
        self._errors = errors
        self.freed: list[str] = []
        self.buffers: dict[int, Any] = {}

    def __getattr__(self, name: str) -> Callable[..., int]:
        def call(*arguments: Any) -> int:
            if name in self._errors:
                return self._errors[name]
            if hasattr(type(self), f"_{name}"):
                getattr(self, f"_{name}")(*arguments)
            if "Free" in name or "Destroy" in name:
                self.freed.append(name)
            return 0

        return call

    def _cuGetErrorName(self, status: int, text: Any) -> None:
        text._obj.value = {100: b"CUDA_ERROR_NO_DEVICE"}.get(status, b"CUDA_ERROR_UNKNOWN")

    def _cuDeviceGetName(self, name: Any, length: int, device: Any) -> None:
        name.value = b"NVIDIA Test"

    def _cuDeviceGetAttribute(self, number: Any, attribute: int, device: Any) -> None:
        number._obj.value = self._capability // 10 if attribute == 75 else self._capability % 10

    def _cuMemAlloc_v2(self, address: Any, size: Any) -> None:
        buffer = ctypes.create_string_buffer(size.value)
        address._obj.value = ctypes.addressof(buffer)
        self.buffers[address._obj.value] = buffer

    def _cuMemcpyHtoD_v2(self, address: Any, data: bytes, size: Any) -> None:
        ctypes.memmove(address.value, data, size.value)

    def _cuMemcpyDtoH_v2(self, data: Any, address: Any, size: Any) -> None:
        ctypes.memmove(data, address.value, size.value)


RTX = SimpleNamespace(ComputeCapability=SimpleNamespace(__members__={"NONE": 0, "CURRENT": 1, "SM75": 75, "SM89": 89, "SM120": 120}))


def test_a_card_is_described_by_name_and_capability() -> None:
    assert card.Driver(FakeDriver(120)).described() == ("NVIDIA Test", 120)


def test_a_driver_without_a_card_is_named_with_what_helps() -> None:
    with pytest.raises(card.CudaError, match=r"CUDA_ERROR_NO_DEVICE in cuInit: it finds no GPU; look at `nvidia-smi`"):
        card.Driver(FakeDriver(cuInit=100))


def test_a_machine_without_a_driver_is_said_to_have_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(card, "_LIBRARY", "libcuda-that-is-not-there.so.1")
    assert card.asked() == ("", 0, "no NVIDIA driver is installed; with one, and a GPU, engines also run")


def test_a_card_of_a_refused_capability_is_named_with_those_that_are_taken_and_with_what_helps() -> None:
    why = adapter._refusal(RTX, "NVIDIA H100", 90)
    assert why == "NVIDIA H100 has compute capability 9.0, and TensorRT for RTX takes 7.5, 8.9, 12.0; the package `tensorrt` takes others"
    assert adapter._refusal(RTX, "NVIDIA L4", 89) == ""
    assert adapter._refusal(SimpleNamespace(), "NVIDIA H100", 90) == ""


def test_memory_of_a_card_keeps_what_is_written_and_is_freed_whatever_the_driver_says() -> None:
    fake = FakeDriver(cuMemFree_v2=700)
    memory = Memory(card.Driver(fake))
    address = memory.upload(b"\x01\x00\x02\x00")
    assert memory.fetch(address, "int16", (2,)).tolist() == [1, 2]
    assert memory.fetch(memory.upload(b""), "float32", (0,)).shape == (0,)
    memory.free()
    assert fake.freed == ["cuStreamDestroy_v2"]


def held(**versions: str) -> Inventory:
    found = {name.replace("_", "-"): Distribution(name, version, ()) for name, version in versions.items()}
    return Inventory("python", found, {})


@pytest.mark.parametrize(
    ("versions", "said"),
    [
        ({RTX_BINDINGS: "1.7.1.116"}, []),
        ({"tensorrt": "10.9"}, []),
        ({}, ["tensorrt-rtx-cu13-bindings is not installed"]),
        (
            {"tensorrt_rtx_cu13_bindings": "2.0"},
            ["tensorrt-rtx-cu13-bindings 2.0 is too new: tensorrt-rtx-cu13-bindings>=1.4,<2 is needed"],
        ),
        ({"tensorrt": "8.6"}, ["tensorrt 8.6 is too old: tensorrt>=10.0,<12 is needed"]),
        ({"tensorrt": "12.1"}, ["tensorrt 12.1 is too new: tensorrt>=10.0,<12 is needed"]),
    ],
)
def test_one_of_two_packages_will_do_and_another_major_version_will_not(versions: dict[str, str], said: list[str]) -> None:
    found = [str(lack) for lack in lacks(TensorRtAdapter.packages, held(onnx="1.23", **versions))]
    assert found == said


def test_of_alternatives_the_first_is_meant_where_none_is_installed() -> None:
    assert wanted(["one>=1 | other>=2"]) == ["one>=1"]
    assert wanted(["one>=1 | other>=2", "more>=1"], held(other="3")) == ["other>=2", "more>=1"]


def test_libraries_of_another_version_than_the_bindings_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    distributions = [SimpleNamespace(name="tensorrt-rtx-cu13-libs", version="1.6.1.120"), SimpleNamespace(name="numpy", version="2.0")]
    monkeypatch.setattr(adapter.metadata, "distributions", lambda: distributions)
    adapter._check_libraries("1.6.1.120")
    with pytest.raises(RuntimeError, match=r"1\.6\.1\.120 does not fit the bindings 1\.7\.1\.116; `opera env create tensorrt --again`"):
        adapter._check_libraries("1.7.1.116")


@pytest.mark.parametrize("case", MESSAGES, ids=[each["name"] for each in MESSAGES])
def test_a_recorded_message_is_a_refusal_or_a_fault(case: dict[str, Any]) -> None:
    kind = "Unsupported" if "UNSUPPORTED" in case["message"].rpartition("[")[2] else "Rejected"
    failure: Any = {
        "type": f"{adapter.__name__}.{kind}",
        "bases": [f"{adapter.__name__}.Rejected"],
        "message": case["message"],
        "frames": [],
    }
    rule = declined(TensorRtAdapter.unsupported, failure, case["stage"])
    assert (rule and rule.reason) == case["reason"]


def test_a_title_is_the_reason_of_tensorrt_without_the_noise_of_a_machine_without_a_driver() -> None:
    noise = "[checkMacros.cpp::catchCudaError::250] Error Code 1: Cuda Runtime (In catchCudaError at x.cpp:250 (cudaError 35: CUDA driver))"
    error = SimpleNamespace(
        desc=lambda: f"Invalid Node - node_of_out0\nthe reason\n{noise}\nmore", node_name=str, node_operator=lambda: "Relu"
    )
    assert adapter._told(error, "INVALID_NODE") == "Relu: the reason [INVALID_NODE]\nmore"
    silent = SimpleNamespace(desc=lambda: f"Invalid Node - x\n{noise}", node_name=lambda: "x", node_operator=str)
    assert adapter._told(silent, "INVALID_NODE").startswith("model: Invalid Node - x [INVALID_NODE]")


def test_a_tensor_of_unknown_rank_has_no_shape() -> None:
    class Unknown:
        @property
        def shape(self) -> tuple[int, ...]:
            raise RuntimeError("Could not get tensor shape.")

    assert adapter._shape(SimpleNamespace(shape=(2, -1))) == (2, None)
    assert adapter._shape(Unknown()) is None


@pytest.mark.parametrize("name", ["", "node_ReduceMean_3", "node_mse_loss"])
def test_a_message_of_the_parser_is_the_same_whatever_the_name_of_the_node(name: str) -> None:
    shown = f"{name or 'node_of_y'}_0"
    text = f"Invalid Node - {name}\nITensor::getDimensions: Error Code 3: API Usage Error ({shown}: at least 1 dimensions are required)\n"
    text += f"ITensor::getDimensions: Error Code 4: API Usage Error (Output shape can not be computed for node {shown}.)"
    error = SimpleNamespace(desc=lambda: text, node_name=lambda: name, node_operator=lambda: "ReduceMean")
    assert adapter._told(error, "INVALID_NODE").splitlines() == [
        "ReduceMean: ITensor::getDimensions: Error Code 3: API Usage Error (node: at least 1 dimensions are required) [INVALID_NODE]",
        "ITensor::getDimensions: Error Code 4: API Usage Error (Output shape can not be computed for node node.)",
    ]
