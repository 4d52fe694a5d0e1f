// RUN: stablehlo-translate --interpret -split-input-file %s

func.func @shift_left_i8() {
  %lhs = stablehlo.constant dense<[1, -1, 3, 1, 64]> : tensor<5xi8>
  %rhs = stablehlo.constant dense<[3, 1, 7, 8, 1]> : tensor<5xi8>
  %result = stablehlo.shift_left %lhs, %rhs : tensor<5xi8>
  check.expect_eq_const %result, dense<[8, -2, -128, 0, -128]> : tensor<5xi8>
  func.return
}

// -----

func.func @shift_left_ui4() {
  %lhs = stablehlo.constant dense<[3, 9]> : tensor<2xui4>
  %rhs = stablehlo.constant dense<[2, 4]> : tensor<2xui4>
  %result = stablehlo.shift_left %lhs, %rhs : tensor<2xui4>
  check.expect_eq_const %result, dense<[12, 0]> : tensor<2xui4>
  func.return
}
