// RUN: stablehlo-translate --interpret -split-input-file %s

func.func @imag_c_f64() {
  %operand = stablehlo.constant dense<[(1.0, 2.0), (3.0, -4.0)]> : tensor<2xcomplex<f64>>
  %result = stablehlo.imag %operand : (tensor<2xcomplex<f64>>) -> tensor<2xf64>
  check.expect_almost_eq_const %result, dense<[2.000000e+00, -4.000000e+00]> : tensor<2xf64>
  func.return
}

// -----

func.func @imag_f64() {
  %operand = stablehlo.constant dense<[1.0, -2.0]> : tensor<2xf64>
  %result = stablehlo.imag %operand : (tensor<2xf64>) -> tensor<2xf64>
  check.expect_almost_eq_const %result, dense<0.000000e+00> : tensor<2xf64>
  func.return
}
