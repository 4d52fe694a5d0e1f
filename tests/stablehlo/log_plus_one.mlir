// RUN: stablehlo-translate --interpret -split-input-file %s

func.func @log_plus_one_f64() {
  %operand = stablehlo.constant dense<[0.0, -0.999, 1.0e-9, 15.0]> : tensor<4xf64>
  %result = stablehlo.log_plus_one %operand : tensor<4xf64>
  check.expect_almost_eq_const %result, dense<[0.000000e+00, -6.9077552789821359, 9.9999999949999999E-10, 2.7725887222397811]> : tensor<4xf64>
  func.return
}

// -----

func.func @log_plus_one_c_f64() {
  %operand = stablehlo.constant dense<[(1.0, 2.0)]> : tensor<1xcomplex<f64>>
  %result = stablehlo.log_plus_one %operand : tensor<1xcomplex<f64>>
  check.expect_almost_eq_const %result, dense<(1.0397207708399181,0.78539816339744828)> : tensor<1xcomplex<f64>>
  func.return
}
