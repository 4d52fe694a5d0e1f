"""Runs child processes that are not workers (a suite, a script, an installer), and chooses the environment of all children."""

from __future__ import annotations

import errno
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import translate
from pathlib import Path
from typing import IO

from opera.workers import clock, processes

MORE = "OPERA_PASS_ENV"
"""Names of further variables to pass on, with commas between them; `*` stands for any characters."""
_PASSED = (
    # The machine and the person.
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "TZ", "LANG", "LANGUAGE", "LC_*", "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME",
    # Interpreters and where programs find their parts.
    "PYTHON*", "VIRTUAL_ENV", "CONDA_*", "LD_*", "MALLOC_*", "GLIBC_*", "*SAN_OPTIONS", "OPERA_*",
    # Compilers that compilers call.
    "CC", "CXX", "CPP", "AR", "AS", "LD", "NM", "RANLIB", "STRIP", "*FLAGS", "CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH",
    "LIBRARY_PATH", "PKG_CONFIG_PATH", "GCC_*", "CCACHE_*", "NIX_*", "NVCC_*", "LLVM*", "MLIR*",
    # Threads and numbers.
    "OMP*", "GOMP*", "KMP*", "MKL*", "OPENBLAS*", "BLIS*", "GOTO_*", "NUMEXPR*", "ONEDNN*", "DNNL*", "ATEN_*",
    # Devices.
    "CUDA*", "CUDNN*", "CUBLAS*", "NCCL*", "NVIDIA_*", "HIP*", "ROCM*", "ROCR*", "HSA_*", "GPU_*", "ZE_*", "SYCL*", "ONEAPI*", "TPU_*",
    "VK_*", "VULKAN*",
    # Libraries and compilers under test.
    "TORCH*", "PYTORCH*", "TRITON*", "TF_*", "TENSORFLOW*", "KERAS*", "JAX*", "XLA*", "ONNX*", "ORT_*", "OV_*", "OPENVINO*", "TVM*",
    "IREE*", "EXECUTORCH*", "ET_*", "QNN_*", "TRT_*", "TENSORRT*", "TFLITE*", "LITERT*",
    # The network.
    "*_proxy", "*_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR",
)  # fmt: skip
"""Names that are passed on; `*` stands for any characters."""
_SECRET = re.compile(
    r"TOKEN|SECRET|PASSW|PASSPHRASE|KEY|CREDENTIAL|AUTH|COOKIE|^AWS_|^AZURE_|^GITHUB_|^GITLAB_|_(PAT|LOGIN|API|PASS|PWD|PIN)$",
    re.IGNORECASE,
)
"""Names of what may be a secret, which is not passed on even where another list has the name."""
_WITH_PASSWORD = re.compile(r"://[^/\s]*@")
"""A URL with a name and a password, e.g. of a proxy."""


def passed_on(whole: Mapping[str, str] | None = None) -> dict[str, str]:
    """The part of *whole*, by default of this process's environment, that a worker or a reproducer gets."""
    whole = os.environ if whole is None else whole
    asked = [name.strip() for name in whole.get(MORE, "").split(",") if name.strip()]
    wanted = _any_of(asked)
    return {name: value for name, value in whole.items() if wanted.match(name) or (_KNOWN.match(name) and not is_secret(name, value))}


def _any_of(patterns: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(map(translate, patterns)) or "(?!)")


_KNOWN = _any_of(_PASSED)


def is_secret(name: str, value: str) -> bool:
    """Whether the variable *name* may hold a secret, by its name or its value."""
    return _SECRET.search(name) is not None or _WITH_PASSWORD.search(value) is not None


LOOK_SECONDS = 0.02
"""Seconds between two checks of a running program."""
_LAUNCH = str(Path(__file__).with_name("launch.py"))


class Running:
    """A running program, a child of this process in a session of its own.

    Attributes:
        pid: Its number.
    """

    def __init__(self, pid: int) -> None:
        """Takes the child *pid*; `processes.BIRTHS` is held since before it was born."""
        self.pid = pid
        self._code: int | None = None
        processes.CHILDREN.add(pid)

    def poll(self) -> int | None:
        """Its exit code, the negative number of the signal that ended it; None while it runs."""
        return processes.exit_code(self.pid) if self._code is None else self._code

    def wait(self, timeout: float) -> int | None:
        """Like `poll`, after at most *timeout* seconds."""
        deadline = clock.now() + timeout
        while (code := self.poll()) is None and clock.now() < deadline:
            time.sleep(LOOK_SECONDS)
        return code

    def resident(self) -> int:
        """Resident bytes of it and all that it has started."""
        return processes.resident(self.pid)

    def end(self) -> None:
        """Kills it with all that it has started."""
        if self._code is None:
            processes.kill_tree(self.pid)
            self._code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
            processes.CHILDREN.discard(self.pid)


class Program(Running):
    """One running program, started from a command line: marked as ours, ended by the kernel when this process ends.

    Args:
        command: The command line.
        output: Where it prints to.
        folder: Where it works.
        environment: All of its environment but our mark.
        kept: Descriptors that it inherits.

    Raises:
        OSError: there is no such program.
    """

    def __init__(
        self, command: Sequence[str], output: IO[bytes], folder: str | Path, environment: Mapping[str, str], kept: Sequence[int] = ()
    ) -> None:
        if shutil.which(command[0]) is None:
            missing = errno.EACCES if os.path.exists(command[0]) else errno.ENOENT
            raise OSError(missing, os.strerror(missing), command[0])
        launch = [sys.executable, "-I", "-S", _LAUNCH, str(os.getpid()), *command]
        with processes.BIRTHS:
            self._process = subprocess.Popen(
                launch,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=folder,
                pass_fds=kept,
                env={**environment, processes.MARK: str(os.getpid())},
                start_new_session=True,
            )
            super().__init__(self._process.pid)

    def end(self) -> None:
        super().end()
        self._process.returncode = self._code
