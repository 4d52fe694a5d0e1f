// RUN: stablehlo-translate --interpret -split-input-file %s

func.func @sine_f64() {
  %operand = stablehlo.constant dense<[0.0, 1.5707963267948966, 0.5]> : tensor<3xf64>
  %result = stablehlo.sine %operand : tensor<3xf64>
  check.expect_almost_eq_const %result, dense<[0.000000e+00, 1.000000e+00, 0.47942553860420301]> : tensor<3xf64>
  func.return
}

// -----

func.func @sine_c_f64() {
  %operand = stablehlo.constant dense<[(0.5, 1.0)]> : tensor<1xcomplex<f64>>
  %result = stablehlo.sine %operand : tensor<1xcomplex<f64>>
  check.expect_almost_eq_const %result, dense<(0.73979226445601376,1.0313360742545512)> : tensor<1xcomplex<f64>>
  func.return
}
