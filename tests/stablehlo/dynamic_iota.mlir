// RUN: stablehlo-translate --interpret -split-input-file %s

func.func @dynamic_iota() {
  %output_shape = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  %result = stablehlo.dynamic_iota %output_shape, dim = 0 : (tensor<2xi64>) -> tensor<2x3xi64>
  check.expect_eq_const %result, dense<[[0, 0, 0], [1, 1, 1]]> : tensor<2x3xi64>
  func.return
}
