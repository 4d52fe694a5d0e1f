// RUN: stablehlo-translate --interpret -split-input-file %s

func.func @round_nearest_even_f64() {
  %operand = stablehlo.constant dense<[-2.5, 0.4, 0.5, 0.6, 2.5, -0.4, 3.5]> : tensor<7xf64>
  %result = stablehlo.round_nearest_even %operand : tensor<7xf64>
  check.expect_almost_eq_const %result, dense<[-2.000000e+00, 0.000000e+00, 0.000000e+00, 1.000000e+00, 2.000000e+00, -0.000000e+00, 4.000000e+00]> : tensor<7xf64>
  func.return
}
