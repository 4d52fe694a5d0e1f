// RUN: stablehlo-translate --interpret -split-input-file %s

func.func @shift_right_arithmetic_i8() {
  %lhs = stablehlo.constant dense<[-1, 64, -128, -128]> : tensor<4xi8>
  %rhs = stablehlo.constant dense<[1, 3, 8, 2]> : tensor<4xi8>
  %result = stablehlo.shift_right_arithmetic %lhs, %rhs : tensor<4xi8>
  check.expect_eq_const %result, dense<[-1, 8, -1, -32]> : tensor<4xi8>
  func.return
}

// -----

func.func @shift_right_arithmetic_ui8() {
  %lhs = stablehlo.constant dense<[255, 64]> : tensor<2xui8>
  %rhs = stablehlo.constant dense<[1, 9]> : tensor<2xui8>
  %result = stablehlo.shift_right_arithmetic %lhs, %rhs : tensor<2xui8>
  check.expect_eq_const %result, dense<[255, 0]> : tensor<2xui8>
  func.return
}
