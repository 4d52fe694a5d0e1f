// RUN: stablehlo-translate --interpret -split-input-file %s

func.func @slice() {
  %operand = stablehlo.constant dense<[[0, 0, 1, 0], [0, 0, 1, 0], [0, 0, 1, 0], [5, 6, 7, 8]]> : tensor<4x4xi32>
  %result = stablehlo.slice %operand [1:4:2, 1:4:2] : (tensor<4x4xi32>) -> tensor<2x2xi32>
  check.expect_eq_const %result, dense<[[0, 0], [6, 8]]> : tensor<2x2xi32>
  func.return
}
