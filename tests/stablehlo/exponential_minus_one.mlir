// RUN: stablehlo-translate --interpret -split-input-file %s

func.func @exponential_minus_one_f64() {
  %operand = stablehlo.constant dense<[0.0, 1.0, 1.0e-9]> : tensor<3xf64>
  %result = stablehlo.exponential_minus_one %operand : tensor<3xf64>
  check.expect_almost_eq_const %result, dense<[0.000000e+00, 1.7182818284590453, 1.0000000005000001E-9]> : tensor<3xf64>
  func.return
}

// -----

func.func @exponential_minus_one_c_f64() {
  %operand = stablehlo.constant dense<[(1.0, 2.0)]> : tensor<1xcomplex<f64>>
  %result = stablehlo.exponential_minus_one %operand : tensor<1xcomplex<f64>>
  check.expect_almost_eq_const %result, dense<(-2.1312043837568133,2.4717266720048188)> : tensor<1xcomplex<f64>>
  func.return
}
