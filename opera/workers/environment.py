"""Which environment variables workers and reproducers get: what compilers and interpreters need, and nothing that may be a secret.

Only what is on the lists here is passed on. The tests that `opera extract` runs are the user's own and get everything.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from fnmatch import translate

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
_SECRET = re.compile(r"TOKEN|SECRET|PASSW|PASSPHRASE|KEY|CREDENTIAL|AUTH|COOKIE|^AWS_|^AZURE_|^GITHUB_|^GITLAB_", re.IGNORECASE)
"""Names of what may be a secret, which is not passed on even where another list has the name."""
_WITH_PASSWORD = re.compile(r"://[^/\s]*@")
"""What a URL with a name and a password has, a proxy's for instance."""


def passed_on(whole: Mapping[str, str] | None = None) -> dict[str, str]:
    """The part of *whole*, by default of this process's environment, that a worker or a reproducer gets."""
    whole = os.environ if whole is None else whole
    asked = [name.strip() for name in whole.get(MORE, "").split(",") if name.strip()]
    wanted = _any_of(asked)
    return {name: value for name, value in whole.items() if wanted.match(name) or (_KNOWN.match(name) and not _is_secret(name, value))}


def _any_of(patterns: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(map(translate, patterns)) or "(?!)")


_KNOWN = _any_of(_PASSED)


def _is_secret(name: str, value: str) -> bool:
    return _SECRET.search(name) is not None or _WITH_PASSWORD.search(value) is not None
