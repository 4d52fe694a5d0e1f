"""iree/onnx, matmul: tests that pass; README.md explains them."""

import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("iree.compiler")
pytest.importorskip("iree.runtime")


def test_gemm_93677918(check_onnx, data):
    model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 13]>
single_operator (float[4,3] A, float[5,4] B, float[1,5] C) => (float[3,5] out0) {
   out0 = Gemm <alpha: float = 0.25, beta: float = 0.35, transA: int = 1,
      transB: int = 1> (A, B, C)
}
""")
    inputs = {"A": data["array2"], "B": data["array0"], "C": data["array3"]}
    expected = [data["array1"]]
    check_onnx(model, inputs, expected)
