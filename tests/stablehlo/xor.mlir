// RUN: stablehlo-translate --interpret -split-input-file %s

func.func @xor_i1() {
  %lhs = stablehlo.constant dense<[false, false, true, true]> : tensor<4xi1>
  %rhs = stablehlo.constant dense<[false, true, false, true]> : tensor<4xi1>
  %result = stablehlo.xor %lhs, %rhs : tensor<4xi1>
  check.expect_eq_const %result, dense<[false, true, true, false]> : tensor<4xi1>
  func.return
}

// -----

func.func @xor_i64() {
  %lhs = stablehlo.constant dense<[12, -1, -8]> : tensor<3xi64>
  %rhs = stablehlo.constant dense<[10, 3, 5]> : tensor<3xi64>
  %result = stablehlo.xor %lhs, %rhs : tensor<3xi64>
  check.expect_eq_const %result, dense<[6, -4, -3]> : tensor<3xi64>
  func.return
}

// -----

func.func @xor_ui4() {
  %lhs = stablehlo.constant dense<[12]> : tensor<1xui4>
  %rhs = stablehlo.constant dense<[10]> : tensor<1xui4>
  %result = stablehlo.xor %lhs, %rhs : tensor<1xui4>
  check.expect_eq_const %result, dense<6> : tensor<1xui4>
  func.return
}
