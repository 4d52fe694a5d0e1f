"""Runs every entry of PyTorch's operator database (`torch.testing._internal`, `op_db`) on its own samples."""

from __future__ import annotations

import importlib
import itertools
from typing import Any, Iterable, List, NamedTuple, Optional, Sequence

from ..filters import Filters
from ..pytorch import Recorder
from ..stream import Stream
from . import arguments, seeds

torch: Any = importlib.import_module("torch")

ALL = "all"
VARIANTS = ("method", "inplace", "noncontiguous", "errors")
"""Ways to call an operator, in addition to the function on contiguous tensors. They do not depend on the dtype, so one dtype is enough.

`errors` are the calls that the database says PyTorch has to refuse.
"""


class OpInfoEntry(NamedTuple):
    """An operator at one dtype: as a function, or as one of `VARIANTS`."""

    op: Any
    dtype: Any
    variant: str = ""

    @property
    def name(self) -> str:
        """The entry's part of a test id."""
        return f"{self.op.full_name}::{str(self.dtype)[6:]}{f'::{self.variant}' if self.variant else ''}"

    @property
    def function(self) -> Any:
        """The operator's function of this variant."""
        return {"method": self.op.method_variant, "inplace": self.op.inplace_variant}.get(self.variant, self.op)

    def samples(self) -> Iterable[Any]:
        """The samples of this variant."""
        if self.variant == "errors":
            return (each.sample_input for each in self.op.error_inputs("cpu"))
        return self.op.sample_inputs("cpu", self.dtype, requires_grad=False)

    def prepared(self, sample: Any) -> Any:
        """The sample as this variant takes it."""
        if self.variant == "noncontiguous":
            return sample.noncontiguous()
        if self.variant == "inplace":
            sample.input = sample.input.clone()
        return sample


def main(argv: Sequence[str]) -> None:
    """Writes the recording of one shard."""
    parser = arguments.parser("opinfo")
    parser.add_argument("--dtypes", default=ALL, help="dtypes, or `all` that an entry supports on the CPU")
    parser.add_argument("--variants", default=",".join(VARIANTS), help="further ways to call an operator")
    parser.add_argument("--samples", type=int, default=None, help="largest number of samples per entry")
    options = parser.parse_args(argv)
    filters = arguments.filters(options)
    seeds.quieten()
    entries = _entries(filters, options.dtypes, [name for name in options.variants.split(",") if name in VARIANTS])
    with Stream(options.recording, "pytorch", torch.__version__, options.source) as stream, Recorder(stream, filters) as recorder:
        for index, entry in arguments.select(entries, options):
            stream.enter(index, entry.name)
            if filters.excluded(entry.op.full_name):
                stream.drop("excluded", entry.op.full_name)
                continue
            seeds.reset(options.seed, entry.name)
            _run(entry, f"{options.source}::{entry.name}", stream, recorder, options.samples)


def _entries(filters: Filters, dtypes: str, variants: Sequence[str]) -> List[OpInfoEntry]:
    """Every operator at every dtype, in the order of the database; its variants after the dtype at which they run."""
    database = importlib.import_module("torch.testing._internal.common_methods_invocations").op_db
    wanted = None if dtypes == ALL else [getattr(torch, name) for name in dtypes.split(",")]
    found: List[OpInfoEntry] = []
    for op in database:
        if not filters.selected(op.full_name):
            continue
        supported = sorted(op.supported_dtypes("cpu"), key=str)
        chosen = supported if wanted is None else [dtype for dtype in wanted if dtype in supported]
        found.extend(OpInfoEntry(op, dtype) for dtype in chosen)
        usual = torch.float32 if torch.float32 in chosen else next(iter(chosen), None)
        if usual is not None:
            found.extend(OpInfoEntry(op, usual, variant) for variant in variants if _has(op, variant))
    return found


def _has(op: Any, variant: str) -> bool:
    if variant == "method":
        return op.method_variant is not None and not op.full_name.startswith("nn.functional.")
    if variant == "errors":
        return op.error_inputs_func is not None
    return variant != "inplace" or op.inplace_variant is not None


def _run(entry: OpInfoEntry, test: str, stream: Stream, recorder: Recorder, limit: Optional[int]) -> None:
    op = entry.op
    drawn = seeds.drawn(entry.samples, stream, op.full_name)
    for number, sample in enumerate(itertools.islice(drawn, limit)):
        stream.begin(f"{test}::{number}")
        try:
            sample = entry.prepared(sample)
            with recorder.watching():
                entry.function(sample.input, *sample.args, **sample.kwargs)
        except Exception as error:
            print(f"{test}::{number}: {type(error).__name__}: {error}", flush=True)
