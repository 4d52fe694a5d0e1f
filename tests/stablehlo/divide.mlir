// RUN: stablehlo-translate --interpret -split-input-file %s

func.func @divide_i64() {
  %lhs = stablehlo.constant dense<[17, -17, 17, -17, 6, 0]> : tensor<6xi64>
  %rhs = stablehlo.constant dense<[3, 3, -3, -3, -3, 5]> : tensor<6xi64>
  %result = stablehlo.divide %lhs, %rhs : tensor<6xi64>
  check.expect_eq_const %result, dense<[5, -5, -5, 5, -2, 0]> : tensor<6xi64>
  func.return
}

// -----

func.func @divide_ui64() {
  %lhs = stablehlo.constant dense<[18446744073709551615, 7]> : tensor<2xui64>
  %rhs = stablehlo.constant dense<[2, 9]> : tensor<2xui64>
  %result = stablehlo.divide %lhs, %rhs : tensor<2xui64>
  check.expect_eq_const %result, dense<[9223372036854775807, 0]> : tensor<2xui64>
  func.return
}

// -----

func.func @divide_f32() {
  %lhs = stablehlo.constant dense<[1.0, -1.0, 0.0, 7.0]> : tensor<4xf32>
  %rhs = stablehlo.constant dense<[0.0, 0.0, 0.0, 3.0]> : tensor<4xf32>
  %result = stablehlo.divide %lhs, %rhs : tensor<4xf32>
  check.expect_almost_eq_const %result, dense<[0x7F800000, 0xFF800000, 0xFFC00000, 2.33333325]> : tensor<4xf32>
  func.return
}

// -----

func.func @divide_c_f64() {
  %lhs = stablehlo.constant dense<[(5.0, 10.0)]> : tensor<1xcomplex<f64>>
  %rhs = stablehlo.constant dense<[(3.0, -4.0)]> : tensor<1xcomplex<f64>>
  %result = stablehlo.divide %lhs, %rhs : tensor<1xcomplex<f64>>
  check.expect_almost_eq_const %result, dense<(-1.000000e+00,2.000000e+00)> : tensor<1xcomplex<f64>>
  func.return
}
