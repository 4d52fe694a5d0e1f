// RUN: stablehlo-translate --interpret -split-input-file %s

func.func @real_c_f64() {
  %operand = stablehlo.constant dense<[(1.0, 2.0), (3.0, -4.0)]> : tensor<2xcomplex<f64>>
  %result = stablehlo.real %operand : (tensor<2xcomplex<f64>>) -> tensor<2xf64>
  check.expect_almost_eq_const %result, dense<[1.000000e+00, 3.000000e+00]> : tensor<2xf64>
  func.return
}

// -----

func.func @real_f64() {
  %operand = stablehlo.constant dense<[1.0, -2.0]> : tensor<2xf64>
  %result = stablehlo.real %operand : (tensor<2xf64>) -> tensor<2xf64>
  check.expect_almost_eq_const %result, dense<[1.000000e+00, -2.000000e+00]> : tensor<2xf64>
  func.return
}
