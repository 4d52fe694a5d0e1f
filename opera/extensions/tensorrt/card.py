"""The first NVIDIA GPU, through the C interface of the CUDA driver: no Python package is needed.

As a program it prints what the driver finds, so that a worker can ask without setting up CUDA in its own process. It imports the standard
library only.
"""

from __future__ import annotations

import ctypes
import subprocess
import sys
from typing import Any

_LIBRARY = "libcuda.so.1"
_MAJOR, _MINOR = 75, 76
"""Numbers of the attributes of a device that are its compute capability."""
_LONGEST_NAME = 100
_TIMEOUT = 60.0
_REMEDIES = {
    "CUDA_ERROR_NO_DEVICE": ": it finds no GPU; look at `nvidia-smi` and CUDA_VISIBLE_DEVICES, and give a container its GPU",
    "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH": ": install its library and its kernel module of one version",
}
"""What helps, by the name of an error."""


class CudaError(Exception):
    """The driver is missing, or gives an error; the message has its name."""


class Driver:
    """The functions of the CUDA driver, each of which raises where it gives an error."""

    def __init__(self, library: Any = None) -> None:
        try:
            self._library: Any = ctypes.CDLL(_LIBRARY) if library is None else library
        except OSError as error:
            raise CudaError("no NVIDIA driver is installed; with one, and a GPU, engines also run") from error
        self.call("cuInit", 0)

    def call(self, name: str, *arguments: Any) -> None:
        """Calls *name*; raises CudaError with the name of an error."""
        status = getattr(self._library, name)(*arguments)
        if status:
            text = ctypes.c_char_p()
            self._library.cuGetErrorName(status, ctypes.byref(text))
            error = (text.value or b"an unknown error").decode()
            raise CudaError(f"the NVIDIA driver gives {error} in {name}{_REMEDIES.get(error, '')}")

    def device(self) -> ctypes.c_int:
        """The first of the devices that the driver lists."""
        device = ctypes.c_int()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        return device

    def described(self) -> tuple[str, int]:
        """Name and compute capability, e.g. 89 for 8.9, of the first device."""
        device, name, numbers = self.device(), ctypes.create_string_buffer(_LONGEST_NAME), (ctypes.c_int(), ctypes.c_int())
        self.call("cuDeviceGetName", name, _LONGEST_NAME, device)
        for number, attribute in zip(numbers, (_MAJOR, _MINOR), strict=True):
            self.call("cuDeviceGetAttribute", ctypes.byref(number), attribute, device)
        return name.value.decode(), numbers[0].value * 10 + numbers[1].value

    def use(self) -> None:
        """Makes the first device the one of this thread."""
        context = ctypes.c_void_p()
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), self.device())
        self.call("cuCtxSetCurrent", context)


def found() -> tuple[str, int, str]:
    """Name and compute capability of the first device, or the reason why no device can be used. A process of its own asks the driver."""
    run = subprocess.run([sys.executable, "-I", __file__], capture_output=True, text=True, check=False, timeout=_TIMEOUT)
    if run.returncode:
        return "", 0, f"the NVIDIA driver ends a process that asks for GPUs with {run.returncode}; run `nvidia-smi`, and install it again"
    name, capability, error = run.stdout.splitlines()
    return name, int(capability), error


def asked() -> tuple[str, int, str]:
    """What `found` says, asked in this process."""
    try:
        return *Driver().described(), ""
    except CudaError as error:
        return "", 0, str(error)


if __name__ == "__main__":
    sys.stdout.write("\n".join(map(str, asked())) + "\n")
