// RUN: stablehlo-translate --interpret -split-input-file %s

func.func @cbrt_f64() {
  %operand = stablehlo.constant dense<[0.0, 1.0, -8.0, 27.0]> : tensor<4xf64>
  %result = stablehlo.cbrt %operand : tensor<4xf64>
  check.expect_almost_eq_const %result, dense<[0.000000e+00, 1.000000e+00, -2.000000e+00, 3.000000e+00]> : tensor<4xf64>
  func.return
}

// -----

func.func @cbrt_c_f64() {
  %operand = stablehlo.constant dense<[(1.0, 2.0)]> : tensor<1xcomplex<f64>>
  %result = stablehlo.cbrt %operand : tensor<1xcomplex<f64>>
  check.expect_almost_eq_const %result, dense<(1.2196165079717578,0.47171126778938893)> : tensor<1xcomplex<f64>>
  func.return
}
