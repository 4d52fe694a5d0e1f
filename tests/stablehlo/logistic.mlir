// RUN: stablehlo-translate --interpret -split-input-file %s

func.func @logistic_f64() {
  %operand = stablehlo.constant dense<[0.0, 1.0, -1.0, 800.0]> : tensor<4xf64>
  %result = stablehlo.logistic %operand : tensor<4xf64>
  check.expect_almost_eq_const %result, dense<[5.000000e-01, 0.7310585786300049, 0.2689414213699951, 1.000000e+00]> : tensor<4xf64>
  func.return
}

// -----

func.func @logistic_c_f64() {
  %operand = stablehlo.constant dense<[(1.0, 2.0)]> : tensor<1xcomplex<f64>>
  %result = stablehlo.logistic %operand : tensor<1xcomplex<f64>>
  check.expect_almost_eq_const %result, dense<(1.0214153641721806,0.40343870608154253)> : tensor<1xcomplex<f64>>
  func.return
}
