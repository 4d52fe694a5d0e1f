// RUN: stablehlo-translate --interpret -split-input-file %s

func.func @tanh_f64() {
  %operand = stablehlo.constant dense<[-1.0, 0.0, 1.0, 20.0]> : tensor<4xf64>
  %result = stablehlo.tanh %operand : tensor<4xf64>
  check.expect_almost_eq_const %result, dense<[-0.76159415595576485, 0.000000e+00, 0.76159415595576485, 1.000000e+00]> : tensor<4xf64>
  func.return
}

// -----

func.func @tanh_c_f64() {
  %operand = stablehlo.constant dense<[(0.5, 1.0)]> : tensor<1xcomplex<f64>>
  %result = stablehlo.tanh %operand : tensor<1xcomplex<f64>>
  check.expect_almost_eq_const %result, dense<(1.0428307283443607,0.80687741216308495)> : tensor<1xcomplex<f64>>
  func.return
}
