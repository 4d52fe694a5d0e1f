"""Has NNSmith generate ONNX models, and writes each as an operator instance of kind `graph`. Runs in NNSmith's own environment.

python benchmarks/nnsmith_generator.py FOLDER [--seed N] [--nodes N] [--first N] [--most N]

FOLDER gets `batch-0000.jsonl`, `batch-0001.jsonl` ..., corpus files; each file is complete as soon as it has its name. The first holds
`--first` models, every other one twice as many as the one before, up to `--largest`. Without `--most` it goes on until it is ended.

Models, weights, inputs and expected outputs are NNSmith's own: the method, the search for inputs without NaN and infinity, and the
outputs of eager PyTorch are what `nnsmith.fuzz` uses. The one thing that is changed is that PyTorch's exporter is asked for what used
to be its default, for NNSmith 0.1.0 was written before `torch.onnx.export` had another one.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import itertools
import json
import os
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

API = "nnsmith.Graph"
SOURCE = "nnsmith"
METHOD = "symbolic-cinit"
SOLVER_MILLISECONDS = 10_000
ATTEMPTS = 5


def main() -> None:
    """Generates until there are enough."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=0, help="of the first model; each other one has the next")
    parser.add_argument("--nodes", type=int, default=10, help="most operators of a model")
    parser.add_argument("--first", type=int, default=32, help="models in the first file")
    parser.add_argument("--largest", type=int, default=256, help="most models in a file")
    parser.add_argument("--most", type=int, help="models after which to stop")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    failures: Counter[str] = Counter()
    documents = itertools.islice(instances(arguments.seed, arguments.nodes, failures), arguments.most)
    size = arguments.first
    for number in itertools.count():
        batch = list(itertools.islice(documents, size))
        if not batch:
            break
        write(arguments.folder / f"batch-{number:04}.jsonl", batch, failures)
        size = min(2 * size, arguments.largest)


def instances(seed: int, nodes: int, failures: Counter[str]) -> Iterator[dict[str, Any]]:
    """Entries of a corpus file, without end. Counts in *failures*, by exception, the models that NNSmith could not make."""
    generate = generator(nodes, seed)
    recorder = importlib.import_module("instrumentation.onnx")
    for number in itertools.count(seed):
        try:
            model, inputs, outputs = generate(number)
            document = recorder.graph_document(model, API, inputs, outputs)
        except Exception as error:
            failures[type(error).__name__] += 1
            continue
        yield {"instance": document, "provenance": [{"source": SOURCE, "test": f"{SOURCE}::{number}", "calls": 1}]}


def generator(nodes: int, seed: int) -> Callable[[int], tuple[Any, list[Any], list[Any]]]:
    """A function from a seed to a model, its inputs and its outputs as eager PyTorch has them."""
    warnings.simplefilter("ignore")
    torch = importlib.import_module("torch")
    torch.set_num_threads(1)
    torch.onnx.export = functools.partial(torch.onnx.export, dynamo=False)
    kind = importlib.import_module("nnsmith.materialize").Model.init("onnx", backend_target="cpu")
    kind.add_seed_setter()
    operators = usable(kind, seed)
    model_gen = importlib.import_module("nnsmith.graph_gen").model_gen

    def generate(seed: int) -> tuple[Any, list[Any], list[Any]]:
        found = model_gen(opset=operators, method=METHOD, seed=seed, max_nodes=nodes, timeout_ms=SOLVER_MILLISECONDS)
        model = kind.from_gir(found.make_concrete())
        model.refine_weights()
        oracle = model.make_oracle()
        proto = model.native_model
        inputs = [oracle.input[entry.name] for entry in proto.graph.input]
        return proto, inputs, [oracle.output[entry.name] for entry in proto.graph.output]

    return generate


def usable(kind: Any, seed: int) -> list[Any]:
    """NNSmith's operators at the dtypes that PyTorch exports. It tries each at random shapes, and some of them break its own rules."""
    set_seed = importlib.import_module("nnsmith.util").set_seed
    for attempt in range(ATTEMPTS):
        try:
            set_seed(seed + attempt)
            return importlib.import_module("nnsmith.narrow_spec").auto_opset(kind, vulops=True)
        except importlib.import_module("nnsmith.error").InternalError as error:
            print(f"NNSmith's trial of its operators failed: {error}", file=sys.stderr)
    sys.exit(f"NNSmith's trial of its operators failed {ATTEMPTS} times")


def write(path: Path, batch: list[dict[str, Any]], failures: Counter[str]) -> None:
    """Writes a corpus file at once."""
    header = {"schema": "corpus/1", "instances": len(batch), "not_generated": dict(failures)}
    part = path.with_suffix(".part")
    with part.open("w", encoding="ascii") as file:
        for document in (header, *batch):
            file.write(json.dumps(document, separators=(",", ":"), ensure_ascii=True) + "\n")
    os.replace(part, path)


if __name__ == "__main__":
    main()
