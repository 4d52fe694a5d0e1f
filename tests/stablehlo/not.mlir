// RUN: stablehlo-translate --interpret -split-input-file %s

func.func @not_i1() {
  %operand = stablehlo.constant dense<[false, true]> : tensor<2xi1>
  %result = stablehlo.not %operand : tensor<2xi1>
  check.expect_eq_const %result, dense<[true, false]> : tensor<2xi1>
  func.return
}

// -----

func.func @not_i64() {
  %operand = stablehlo.constant dense<[0, -1, 5]> : tensor<3xi64>
  %result = stablehlo.not %operand : tensor<3xi64>
  check.expect_eq_const %result, dense<[-1, 0, -6]> : tensor<3xi64>
  func.return
}

// -----

func.func @not_ui4() {
  %operand = stablehlo.constant dense<[0, 5]> : tensor<2xui4>
  %result = stablehlo.not %operand : tensor<2xui4>
  check.expect_eq_const %result, dense<[15, 10]> : tensor<2xui4>
  func.return
}
