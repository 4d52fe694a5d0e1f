// RUN: stablehlo-translate --interpret -split-input-file %s

func.func @log_f64() {
  %operand = stablehlo.constant dense<[1.0, 2.7182818284590451, 0.0, 10.0]> : tensor<4xf64>
  %result = stablehlo.log %operand : tensor<4xf64>
  check.expect_almost_eq_const %result, dense<[0.000000e+00, 1.000000e+00, 0xFFF0000000000000, 2.3025850929940459]> : tensor<4xf64>
  func.return
}

// -----

func.func @log_c_f64() {
  %operand = stablehlo.constant dense<[(1.0, 2.0)]> : tensor<1xcomplex<f64>>
  %result = stablehlo.log %operand : tensor<1xcomplex<f64>>
  check.expect_almost_eq_const %result, dense<(0.80471895621705025,1.1071487177940904)> : tensor<1xcomplex<f64>>
  func.return
}
