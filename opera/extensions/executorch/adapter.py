"""ExecuTorch: exported PyTorch programs, lowered to its edge dialect and run by its portable or its XNNPACK kernels."""

from __future__ import annotations

import importlib
import io
import os
import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from importlib import metadata
from typing import Any

from opera.arrays import Outputs
from opera.compilers.adapter import Adapter, CannotFeed, Fork, Route, Stage, Subject, UnsupportedRule
from opera.compilers.torch_format import decomposed_by_compiler, operators_of
from opera.models.template import Invalid
from opera.oracles.verdict import Failure

_VERIFIER = "torch._export.verifier.SpecViolationError"
_LOG_LINE = re.compile(r"^\[(?!cpuinfo_utils)\w+\.(?:cpp|h):\d+\] (?!arg \d+ with type id).*$", re.MULTILINE)
_MOST_LINES = 3
_LONGEST_LOG = 2**20


class ExecuTorchAdapter(Adapter):
    """to_edge_transform_and_lower, to_executorch, and the runtime of the same package."""

    name = "executorch"
    revision = 2
    routes = (Route("pytorch", "exported-program", "exported-program"),)
    packages = ("executorch>=1.0", "torch>=2.9")
    levels = ("portable", "xnnpack")
    lowest_level = "portable"
    fork = Fork.STARTED
    project = ("executorch.", "executorch/")
    unsupported = (
        UnsupportedRule((_VERIFIER,), "not-core-aten", r"\bis not in Core ATen opset\b"),
        UnsupportedRule((_VERIFIER,), "dtype", r"^These operators are taking Tensor inputs with mismatched dtypes:"),
        UnsupportedRule(("RuntimeError",), "strides", r"^0 in strides is not supported for ExecuTorch", stages=("load", "codegen")),
        UnsupportedRule(
            ("RuntimeError",), "no-kernel", r"(?m)^Failed to load method \w+, error: 0x:14\b", "executorch.runtime", ("codegen",)
        ),
        UnsupportedRule(("RuntimeError",), "dtype", r"\] Unhandled dtype \w+ for \w+", "executorch.runtime", ("run",)),
        UnsupportedRule(("RuntimeError",), "declined", r"\] Check failed \(.*\): .*\bis not supported\b", "executorch.runtime", ("run",)),
    )

    def start(self) -> Mapping[str, str]:
        self._torch: Any = importlib.import_module("torch")
        self._exir: Any = importlib.import_module("executorch.exir")
        self._runtime: Any = importlib.import_module("executorch.runtime").Runtime.get()
        level = str(self.options.get("level", self.levels[0]))
        self._partitioners: list[Any] = []
        if level == "xnnpack":
            module: Any = importlib.import_module("executorch.backends.xnnpack.partition.xnnpack_partitioner")
            if "XnnpackBackend" not in self._runtime.backend_registry.registered_backend_names:
                raise RuntimeError("this build of ExecuTorch has no XNNPACK; install one that has, e.g. `pip install executorch`")
            self._partitioners = [module.XnnpackPartitioner()]
            importlib.import_module("executorch.extension.pybindings.portable_lib")._unsafe_reset_threadpool(1)
        return {"executorch": metadata.version("executorch"), "torch": str(self._torch.__version__), "kernels": level}

    def load(self, subject: Subject, stage: Stage) -> Any:
        program = self._torch.export.load(io.BytesIO(subject.data))
        self._layouts = [self._layout(each) for each in program.example_inputs[0]]
        with decomposed_by_compiler(subject):
            return self._exir.to_edge_transform_and_lower(program, partitioner=self._partitioners)

    def compile(self, loaded: Any, subject: Subject, stage: Stage) -> Any:
        stage("codegen")
        kinds = [spec.kind.name for spec in loaded.exported_program().graph_signature.output_specs]
        buffer = loaded.to_executorch().buffer
        with _with_its_log():
            program = self._runtime.load_program(buffer)
            method = program.load_method("forward")
        return program, method, [kind == "USER_OUTPUT" for kind in kinds if kind != "BUFFER_MUTATION"]

    def run(self, compiled: Any, subject: Subject, stage: Stage) -> Outputs:
        from opera.templates.pytorch.model import from_numpy, to_numpy

        try:
            tensors = [from_numpy(value, str(value.dtype)) for value in subject.inputs.values()]
        except Invalid as error:
            raise CannotFeed(str(error)) from error
        _program, method, wanted = compiled  # a method does not keep its program alive
        with _with_its_log():
            outputs = method.execute([each.contiguous(memory_format=own) for each, own in zip(tensors, self._layouts, strict=True)])
        if len(outputs) == len(wanted):  # inputs that the model writes to come back as well
            outputs = [value for value, own in zip(outputs, wanted, strict=True) if own]
        return [to_numpy(value) if isinstance(value, self._torch.Tensor) else value for value in outputs]

    def _layout(self, example: Any) -> Any:
        """The memory format of an input for which a program was made: the runtime reads any other as if it had that one."""
        formats = (self._torch.contiguous_format, self._torch.channels_last)
        found = next((each for each in formats[: 1 + (example.dim() == 4)] if example.is_contiguous(memory_format=each)), None)
        if found is None:
            raise CannotFeed("inputs are contiguous or channels-last")
        return found

    def converter(self, subject: Subject, failure: Failure | None) -> str:
        """The ATen operator that the message names, else those of the program."""
        message = str((failure or {}).get("message", ""))
        named = re.search(r"Operator torch\._ops\.(aten\.\w+)", message) or re.search(r"EdgeOpOverload: (aten\.\w+)", message)
        if named is None:
            named = re.search(r"kernel '(\w+::\w+)[.\w]*' not found", message) or re.search(r"in operator (aten::\w+)", message)
        return operators_of(subject) if named is None else named[1].replace("::", ".")


@contextmanager
def _with_its_log() -> Generator[None]:
    """Puts what the runtime has logged before the message of an exception, which is a number."""
    begin = os.fstat(2).st_size
    try:
        yield
    except RuntimeError as error:
        lines = _LOG_LINE.findall(_logged_since(begin))[:_MOST_LINES]
        error.args = ("\n".join([*lines, str(error)]),)
        raise


def _logged_since(begin: int) -> str:
    """What standard error has received; nothing where it is no file."""
    try:
        with open("/proc/self/fd/2", "rb") as log:
            log.seek(begin)
            return log.read(_LONGEST_LOG).decode("utf-8", "replace")
    except OSError:
        return ""
