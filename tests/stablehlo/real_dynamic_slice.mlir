// RUN: stablehlo-translate --interpret -split-input-file %s

func.func @real_dynamic_slice() {
  %operand = stablehlo.constant dense<[[0, 0, 1, 0], [0, 0, 1, 0], [0, 0, 1, 0], [5, 6, 7, 8]]> : tensor<4x4xi64>
  %start_indices = stablehlo.constant dense<[1, 0]> : tensor<2xi64>
  %limit_indices = stablehlo.constant dense<[4, 3]> : tensor<2xi64>
  %strides = stablehlo.constant dense<[2, 1]> : tensor<2xi64>
  %result = stablehlo.real_dynamic_slice %operand, %start_indices, %limit_indices, %strides : (tensor<4x4xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<2x3xi64>
  check.expect_eq_const %result, dense<[[0, 0, 1], [5, 6, 7]]> : tensor<2x3xi64>
  func.return
}
