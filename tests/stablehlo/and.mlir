// RUN: stablehlo-translate --interpret -split-input-file %s

func.func @and_i1() {
  %lhs = stablehlo.constant dense<[false, false, true, true]> : tensor<4xi1>
  %rhs = stablehlo.constant dense<[false, true, false, true]> : tensor<4xi1>
  %result = stablehlo.and %lhs, %rhs : tensor<4xi1>
  check.expect_eq_const %result, dense<[false, false, false, true]> : tensor<4xi1>
  func.return
}

// -----

func.func @and_i64() {
  %lhs = stablehlo.constant dense<[12, -1, -8]> : tensor<3xi64>
  %rhs = stablehlo.constant dense<[10, 3, 5]> : tensor<3xi64>
  %result = stablehlo.and %lhs, %rhs : tensor<3xi64>
  check.expect_eq_const %result, dense<[8, 3, 0]> : tensor<3xi64>
  func.return
}

// -----

func.func @and_ui4() {
  %lhs = stablehlo.constant dense<[12]> : tensor<1xui4>
  %rhs = stablehlo.constant dense<[10]> : tensor<1xui4>
  %result = stablehlo.and %lhs, %rhs : tensor<1xui4>
  check.expect_eq_const %result, dense<8> : tensor<1xui4>
  func.return
}
