"""A small workspace with a result of each kind, which no compiler made."""

from __future__ import annotations

import hashlib
from html.parser import HTMLParser
from typing import Any

from opera.instance import Argument, Instance, Kind, Occurrence, Tensor, digest
from opera.oracles.fingerprint import NO_NOISE, symptom_of
from opera.oracles.verdict import Stage, Verdict
from opera.store import Campaigns, Corpus, StoredResult, Workspace
from opera.store.campaigns import Reproduction
from opera.store.corpus import Extraction


def relu(size: int) -> Instance:
    return Instance("onnx", "ai.onnx.Relu", Kind.NODE, call=(Argument("X", Tensor((size, 2), "float32")),))


SHAPE = (3).to_bytes(8, "little") + (2).to_bytes(8, "little")


RESHAPE = Instance(
    "onnx", "ai.onnx.Reshape", Kind.NODE, init=(Argument("allowzero", 1),), context=(("opset", 21),),
    call=(Argument("data", Tensor((2, 3), "float32")), Argument("shape", Tensor((2,), "int64", SHAPE))),
)  # fmt: skip


BIG = Instance("onnx", "ai.onnx.Big", Kind.NODE, call=(Argument("X", Tensor((8192,), "uint8", bytes(8192))),))


def failure(message: str, kind: str = "tvm.error.InternalError") -> dict[str, Any]:
    frames = [
        ["opera.difftest.compiler_worker", "opera/difftest/compiler_worker.py", 57, "handle"],
        ["tvm.relax", "frontend/onnx/onnx_frontend.py", 12, "Relu.convert"],
    ]
    return {"failure": {"type": kind, "bases": [], "message": message, "frames": frames}}


def result(name: str, instance: Instance, compiler: str, verdict: Verdict, stage: Stage | None = None, **facts: Any) -> StoredResult:
    detail = facts.pop("detail", {})
    fingerprint = None
    if verdict.is_failure:
        subject = facts.get("exporter") or f"{compiler}/onnx"
        fingerprint = symptom_of(subject, verdict, stage, facts.get("converter") or "", detail, NO_NOISE).fingerprint
    test = f"{name}{'0' * 64}"[:64]
    return StoredResult(
        test, digest(instance), compiler, "onnx", "onnx", "runtime", 0, verdict, stage, facts.get("reason"), facts.get("converter"),
        fingerprint, detail, {"load": 0.25}, None, facts.get("exporter"),
    )  # fmt: skip


def fill(space: Workspace) -> None:
    corpus, campaigns = Corpus(space), Campaigns(space)
    corpus.add(
        [
            (relu(1), Occurrence("node-tests", "test_relu", 2)), (relu(2), Occurrence("node-tests", "test_relu_big")),
            (RESHAPE, Occurrence("node-tests", "test_reshape")), (BIG, Occurrence("node-tests", "test_big")),
        ]
    )  # fmt: skip
    corpus.record_extraction(Extraction("onnx", "node-tests", "", 9, 4, 3, {"noise": 4}, 1.5))
    versions = {"library": {"onnx": "1.0"}, "compiler": {"tvm": "2.0", "target": "llvm"}, "route": "onnx"}
    campaigns.begin("aaaaaaaaaaaa", "tvm", "onnx", {"forms": ["runtime"], "seed": 0}, versions)
    campaigns.begin(
        "bbbbbbbbbbbb", "openvino", "onnx", {"forms": ["runtime"], "seed": 0}, {"library": {"onnx": "1.0"}, "compiler": {"openvino": "3.0"}}
    )
    shape = {"difference": {"kind": "shape", "output": 0, "expected": "[3, 2]", "actual": "[2, 3]"}}
    exporter = {"converter": "torch.onnx", "detail": failure("no symbolic for Big", "ExportError"), "exporter": "torch.onnx"}
    crash = {"stage": Stage.LOAD, "converter": "Relu", "detail": failure("cannot convert value 17 of Relu")}
    tvm = [
        result("a1", relu(2), "tvm", Verdict.CRASH, **crash),
        result("a2", relu(1), "tvm", Verdict.CRASH, **crash),
        result("a3", RESHAPE, "tvm", Verdict.INCONSISTENT, Stage.COMPARE, converter="Reshape", detail=shape),
        result("a4", BIG, "tvm", Verdict.CRASH, Stage.EXPORT, **exporter),
        result("a5", RESHAPE, "tvm", Verdict.PASS),
    ]
    openvino = [
        result("b1", relu(1), "openvino", Verdict.UNSUPPORTED, Stage.LOAD, reason="no-kernel", detail=failure("not implemented")),
        result("b2", relu(2), "openvino", Verdict.FLAKY, reason="pass in a fresh process"),
        result("b3", RESHAPE, "openvino", Verdict.UNDEFINED, Stage.COMPARE, reason="precision-policy", detail=shape),
        result("b4", BIG, "openvino", Verdict.CRASH, Stage.EXPORT, **exporter),
        result("b5", RESHAPE, "openvino", Verdict.INVALID, reason="checker"),
    ]
    campaigns.write("aaaaaaaaaaaa", enumerate(tvm))
    campaigns.write("bbbbbbbbbbbb", enumerate(openvino))
    campaigns.pause("aaaaaaaaaaaa", 2.0, complete=True, stopped_by=None)
    campaigns.pause("bbbbbbbbbbbb", 3.0, complete=False, stopped_by="budget")
    (space.folder / "reproducers").mkdir()
    script = b"print('<i>reproduced</i>')\n"
    (space.folder / "reproducers" / "relu.py").write_bytes(script)
    crashed = tvm[0].fingerprint
    assert crashed is not None
    digest_of = hashlib.sha256(script).hexdigest()
    campaigns.keep_reproduction(Reproduction(crashed, "reproducers/relu.py", True, tvm[1].test, digest_of), "same failure")


class Tags(HTMLParser):
    """Collects tags with their attributes; complains of those that are left open."""

    VOID = frozenset({"meta", "input", "br", "line"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def stands_alone(page: str) -> None:
    """Checks that *page* loads nothing, and runs its own script only."""
    tags = Tags(page).found
    assert sum(tag == "script" for tag, _ in tags) == 1
    for tag, attributes in tags:
        assert tag not in ("link", "img", "iframe", "object")
        assert not any(name in ("src", "srcset") or name.startswith("on") for name in attributes)
        assert (attributes.get("href") or "#").startswith("#")
