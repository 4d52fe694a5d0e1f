// RUN: stablehlo-translate --interpret -split-input-file %s

func.func @abs_i64() {
  %operand = stablehlo.constant dense<[-5, 7, -9223372036854775808]> : tensor<3xi64>
  %result = stablehlo.abs %operand : tensor<3xi64>
  check.expect_eq_const %result, dense<[5, 7, -9223372036854775808]> : tensor<3xi64>
  func.return
}

// -----

func.func @abs_f32() {
  %operand = stablehlo.constant dense<[-1.5, -0.0]> : tensor<2xf32>
  %result = stablehlo.abs %operand : tensor<2xf32>
  check.expect_almost_eq_const %result, dense<[1.500000e+00, 0.000000e+00]> : tensor<2xf32>
  func.return
}

// -----

func.func @abs_c_f64() {
  %operand = stablehlo.constant dense<[(3.0, -4.0), (0.0, 0.0)]> : tensor<2xcomplex<f64>>
  %result = stablehlo.abs %operand : (tensor<2xcomplex<f64>>) -> tensor<2xf64>
  check.expect_almost_eq_const %result, dense<[5.000000e+00, 0.000000e+00]> : tensor<2xf64>
  func.return
}
