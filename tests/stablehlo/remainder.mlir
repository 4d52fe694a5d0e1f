// RUN: stablehlo-translate --interpret -split-input-file %s

func.func @remainder_i64() {
  %lhs = stablehlo.constant dense<[17, -17, 17, -17, 6]> : tensor<5xi64>
  %rhs = stablehlo.constant dense<[3, 3, -3, -3, -3]> : tensor<5xi64>
  %result = stablehlo.remainder %lhs, %rhs : tensor<5xi64>
  check.expect_eq_const %result, dense<[2, -2, 2, -2, 0]> : tensor<5xi64>
  func.return
}

// -----

func.func @remainder_ui64() {
  %lhs = stablehlo.constant dense<[17, 18446744073709551615]> : tensor<2xui64>
  %rhs = stablehlo.constant dense<[3, 10]> : tensor<2xui64>
  %result = stablehlo.remainder %lhs, %rhs : tensor<2xui64>
  check.expect_eq_const %result, dense<[2, 5]> : tensor<2xui64>
  func.return
}

// -----

func.func @remainder_f32() {
  %lhs = stablehlo.constant dense<[17.1, -17.1, 17.1, -17.1, 0x7F800000]> : tensor<5xf32>
  %rhs = stablehlo.constant dense<[3.0, 3.0, -3.0, -3.0, 2.0]> : tensor<5xf32>
  %result = stablehlo.remainder %lhs, %rhs : tensor<5xf32>
  check.expect_almost_eq_const %result, dense<[2.10000038, -2.10000038, 2.10000038, -2.10000038, 0xFFC00000]> : tensor<5xf32>
  func.return
}
