// RUN: stablehlo-translate --interpret -split-input-file %s

func.func @round_nearest_afz_f64() {
  %operand = stablehlo.constant dense<[-2.5, 0.4, 0.5, 0.6, 2.5, -0.4, 3.0]> : tensor<7xf64>
  %result = stablehlo.round_nearest_afz %operand : tensor<7xf64>
  check.expect_almost_eq_const %result, dense<[-3.000000e+00, 0.000000e+00, 1.000000e+00, 1.000000e+00, 3.000000e+00, -0.000000e+00, 3.000000e+00]> : tensor<7xf64>
  func.return
}
