"""iree/onnx, loss: known failures; README.md explains them."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("iree.compiler")
pytest.importorskip("iree.runtime")
binaries = pytest.importorskip("iree.compiler.tools.binaries")
CompilerToolError = binaries.CompilerToolError


@pytest.mark.xfail(
    strict=True,
    raises=CompilerToolError,
    reason="d6beadc7: CompilerToolError: failed to legalize operation "
    "'torch.vtensor.literal': %3 = 'torch.vtensor.literal'() <{value = "
    "dense<[0.288476437, 0.433288068, 0.756106674, 0.396098286, 0.896038413]> "
    ": tensor<5xf32>}> : () -> !torch.vtensor<[5],f32> loc('<stdin>':3:10)",
)
def test_softmaxcrossentropyloss_d6beadc7(check_onnx, data):
    # finding d6beadc75ed85b4a
    # CompilerToolError: failed to legalize operation 'torch.vtensor.literal': %3 =
    # "torch.vtensor.literal"() <{value = dense<[0.288476437, 0.433288068, 0.756106674,
    # 0.396098286, 0.896038413]> : tensor<5xf32>}> : () -> !torch.vtensor<[5],f32>
    # loc("<stdin>":3:10)
    model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 13]>
single_operator (float[3,5,6] scores, int64[3,6] labels) => (float out0,
      float[3,5,6] out1)
   <float[5] weights = {0.28847644,0.43328807,0.7561067,0.3960983,0.8960384}> {
   out0, out1 = SoftmaxCrossEntropyLoss <ignore_index: int = -1,
      reduction: string = "mean"> (scores, labels, weights)
}
""")
    inputs = {"scores": data["array1"], "labels": data["array2"]}
    expected = [np.array(1.6775866, np.float32), data["array0"]]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(
    strict=True,
    raises=CompilerToolError,
    reason="ddbf9bc6: CompilerToolError: failed to legalize operation "
    "'torch.aten.nll_loss_forward' that was explicitly marked illegal: %125:2 "
    "= 'torch.aten.nll_loss_forward'(%124, %arg1, %14, %12, %6) : "
    "(!torch.vtensor<[3,5,6,6,5,3,4],f32>, !torch.vtensor<[3,6,6,5,3,4],si64>, "
    "!to",
)
def test_softmaxcrossentropyloss_ddbf9bc6(check_onnx, data):
    # finding ddbf9bc6a7900662
    # CompilerToolError: failed to legalize operation 'torch.aten.nll_loss_forward' that
    # was explicitly marked illegal: %125:2 = "torch.aten.nll_loss_forward"(%124, %arg1,
    # %14, %12, %6) : (!torch.vtensor<[3,5,6,6,5,3,4],f32>,
    # !torch.vtensor<[3,6,6,5,3,4],si64>, !to
    model = onnx.parser.parse_model("""
<ir_version: 7, opset_import: ["" : 13]>
graph (float[3,5,6,6,5,3,4] input0, int64[3,6,6,5,3,4] input1) => (float output0)
   <float[5] input2 = {1,1,1,2,1}> {
   value4 = Constant <value: tensor = int64[3] {0,0,-1}> ()
   value5 = Reshape (input0, value4)
   value6 = Transpose <perm: ints = [0, 2, 1]> (value5)
   value7 = LogSoftmax <axis: int = 2> (value6)
   value8 = Transpose <perm: ints = [0, 2, 1]> (value7)
   value9 = Shape (input0)
   value10 = Reshape (value8, value9)
   output0 = NegativeLogLikelihoodLoss <reduction: string = "mean"> (value10, input1,
      input2)
}
""")
    inputs = {name: data[name] for name in ["input0", "input1"]}
    expected = [data["array1"]]
    check_onnx(model, inputs, expected)
