// RUN: stablehlo-translate --interpret -split-input-file %s

// What StableHLO leaves open, and the readable interpreter decides.

func.func @divide_by_zero() {
  %lhs = stablehlo.constant dense<[7, -7, 0]> : tensor<3xi8>
  %rhs = stablehlo.constant dense<[0, 0, 0]> : tensor<3xi8>
  %result = stablehlo.divide %lhs, %rhs : tensor<3xi8>
  check.expect_eq_const %result, dense<-1> : tensor<3xi8>
  func.return
}

// -----

func.func @remainder_by_zero() {
  %lhs = stablehlo.constant dense<[7, -7, 0]> : tensor<3xi8>
  %rhs = stablehlo.constant dense<[0, 0, 0]> : tensor<3xi8>
  %result = stablehlo.remainder %lhs, %rhs : tensor<3xi8>
  check.expect_eq_const %result, dense<[7, -7, 0]> : tensor<3xi8>
  func.return
}

// -----

func.func @convert_out_of_range_to_i8() {
  %operand = stablehlo.constant dense<[127.9, 128.0, -128.9, -1000.0, 0x7F800000, 0xFF800000, 0x7FC00000]> : tensor<7xf32>
  %result = stablehlo.convert %operand : (tensor<7xf32>) -> tensor<7xi8>
  check.expect_eq_const %result, dense<[127, 127, -128, -128, 127, -128, 0]> : tensor<7xi8>
  func.return
}

// -----

func.func @convert_out_of_range_to_ui4() {
  %operand = stablehlo.constant dense<[-1.0, 15.9, 16.0, 1000.0]> : tensor<4xf32>
  %result = stablehlo.convert %operand : (tensor<4xf32>) -> tensor<4xui4>
  check.expect_eq_const %result, dense<[0, 15, 15, 15]> : tensor<4xui4>
  func.return
}

// -----

func.func @zero_of_a_type_without_zero() {
  %operand = stablehlo.constant dense<[0.0, 1.0]> : tensor<2xf32>
  %result = stablehlo.convert %operand : (tensor<2xf32>) -> tensor<2xf8E8M0FNU>
  check.expect_eq_const %result, dense<[5.877470e-39, 1.000000e+00]> : tensor<2xf8E8M0FNU>
  func.return
}
