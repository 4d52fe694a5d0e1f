// RUN: stablehlo-translate --interpret -split-input-file %s

func.func @count_leading_zeros_i16() {
  %operand = stablehlo.constant dense<[0, 1, 128, -1]> : tensor<4xi16>
  %result = stablehlo.count_leading_zeros %operand : tensor<4xi16>
  check.expect_eq_const %result, dense<[16, 15, 8, 0]> : tensor<4xi16>
  func.return
}

// -----

func.func @count_leading_zeros_ui4() {
  %operand = stablehlo.constant dense<[0, 1, 15]> : tensor<3xui4>
  %result = stablehlo.count_leading_zeros %operand : tensor<3xui4>
  check.expect_eq_const %result, dense<[4, 3, 0]> : tensor<3xui4>
  func.return
}

// -----

func.func @count_leading_zeros_i4() {
  %operand = stablehlo.constant dense<[-1, 3]> : tensor<2xi4>
  %result = stablehlo.count_leading_zeros %operand : tensor<2xi4>
  check.expect_eq_const %result, dense<[0, 2]> : tensor<2xi4>
  func.return
}
