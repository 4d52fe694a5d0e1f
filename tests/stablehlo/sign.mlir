// RUN: stablehlo-translate --interpret -split-input-file %s

func.func @sign_i64() {
  %operand = stablehlo.constant dense<[-5, 7, 0]> : tensor<3xi64>
  %result = stablehlo.sign %operand : tensor<3xi64>
  check.expect_eq_const %result, dense<[-1, 1, 0]> : tensor<3xi64>
  func.return
}

// -----

func.func @sign_f32() {
  %operand = stablehlo.constant dense<[-1.5, 0.5, -0.0, 0.0, 0x7FC00000, 0x7F800000]> : tensor<6xf32>
  %result = stablehlo.sign %operand : tensor<6xf32>
  check.expect_almost_eq_const %result, dense<[-1.000000e+00, 1.000000e+00, -0.000000e+00, 0.000000e+00, 0x7FC00000, 1.000000e+00]> : tensor<6xf32>
  func.return
}

// -----

func.func @sign_c_f64() {
  %operand = stablehlo.constant dense<[(3.0, -4.0), (0.0, 0.0)]> : tensor<2xcomplex<f64>>
  %result = stablehlo.sign %operand : tensor<2xcomplex<f64>>
  check.expect_almost_eq_const %result, dense<[(0.60000000000000009,-8.000000e-01), (0.000000e+00,0.000000e+00)]> : tensor<2xcomplex<f64>>
  func.return
}

// -----

func.func @sign_f32_zero() {
  %operand = stablehlo.constant dense<[-0.0, 0.0]> : tensor<2xf32>
  %result = stablehlo.sign %operand : tensor<2xf32>
  check.expect_eq_const %result, dense<[-0.000000e+00, 0.000000e+00]> : tensor<2xf32>
  func.return
}
