// RUN: stablehlo-translate --interpret -split-input-file %s

func.func @shift_right_logical_i8() {
  %lhs = stablehlo.constant dense<[-1, 64, -128, 5]> : tensor<4xi8>
  %rhs = stablehlo.constant dense<[1, 3, 8, 0]> : tensor<4xi8>
  %result = stablehlo.shift_right_logical %lhs, %rhs : tensor<4xi8>
  check.expect_eq_const %result, dense<[127, 8, 0, 5]> : tensor<4xi8>
  func.return
}

// -----

func.func @shift_right_logical_ui4() {
  %lhs = stablehlo.constant dense<[12, 9]> : tensor<2xui4>
  %rhs = stablehlo.constant dense<[2, 4]> : tensor<2xui4>
  %result = stablehlo.shift_right_logical %lhs, %rhs : tensor<2xui4>
  check.expect_eq_const %result, dense<[3, 0]> : tensor<2xui4>
  func.return
}
