"""Memory of the GPU."""

from __future__ import annotations

import ctypes
import math
from contextlib import suppress

from opera.arrays import Array, packed_size, unpack
from opera.extensions.tensorrt.card import CudaError, Driver


class Memory:
    """Buffers on the GPU, and the stream that everything happens on."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._buffers: list[int] = []
        stream = ctypes.c_void_p()
        driver.call("cuStreamCreate", ctypes.byref(stream), 0)
        self.stream = int(stream.value or 0)

    def allocate(self, size: int) -> int:
        """The address of *size* bytes; TensorRT takes no null pointer, not even for an empty tensor."""
        address = ctypes.c_uint64()
        self._driver.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(max(size, 1)))
        self._buffers.append(address.value)
        return address.value

    def upload(self, data: bytes) -> int:
        """The address of a copy of *data*."""
        address = self.allocate(len(data))
        if data:
            self._driver.call("cuMemcpyHtoD_v2", ctypes.c_uint64(address), data, ctypes.c_size_t(len(data)))
        return address

    def fetch(self, address: int, dtype: str, shape: tuple[int, ...]) -> Array:
        """The tensor at *address*."""
        data = ctypes.create_string_buffer(packed_size(dtype, math.prod(shape)))
        if len(data):
            self._driver.call("cuMemcpyDtoH_v2", data, ctypes.c_uint64(address), ctypes.c_size_t(len(data)))
        return unpack(data.raw, dtype, shape)

    def wait(self) -> None:
        """Until everything on the stream is done."""
        self._driver.call("cuStreamSynchronize", ctypes.c_void_p(self.stream))

    def free(self) -> None:
        """Gives everything back; after an error of the device, as far as it lets us."""
        for address in self._buffers:
            with suppress(CudaError):
                self._driver.call("cuMemFree_v2", ctypes.c_uint64(address))
        with suppress(CudaError):
            self._driver.call("cuStreamDestroy_v2", ctypes.c_void_p(self.stream))
