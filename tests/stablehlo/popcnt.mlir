// RUN: stablehlo-translate --interpret -split-input-file %s

func.func @popcnt_i64() {
  %operand = stablehlo.constant dense<[0, 1, 127, -1]> : tensor<4xi64>
  %result = stablehlo.popcnt %operand : tensor<4xi64>
  check.expect_eq_const %result, dense<[0, 1, 7, 64]> : tensor<4xi64>
  func.return
}

// -----

func.func @popcnt_ui4() {
  %operand = stablehlo.constant dense<[15, 5]> : tensor<2xui4>
  %result = stablehlo.popcnt %operand : tensor<2xui4>
  check.expect_eq_const %result, dense<[4, 2]> : tensor<2xui4>
  func.return
}

// -----

func.func @popcnt_i4() {
  %operand = stablehlo.constant dense<[-1, -8, 7]> : tensor<3xi4>
  %result = stablehlo.popcnt %operand : tensor<3xi4>
  check.expect_eq_const %result, dense<[4, 1, 3]> : tensor<3xi4>
  func.return
}
