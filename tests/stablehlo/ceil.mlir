// RUN: stablehlo-translate --interpret -split-input-file %s

func.func @ceil_f32() {
  %operand = stablehlo.constant dense<[-0.8, -0.2, 0.2, 0.8, 2.0]> : tensor<5xf32>
  %result = stablehlo.ceil %operand : tensor<5xf32>
  check.expect_almost_eq_const %result, dense<[-0.000000e+00, -0.000000e+00, 1.000000e+00, 1.000000e+00, 2.000000e+00]> : tensor<5xf32>
  func.return
}
