// RUN: stablehlo-translate --interpret -split-input-file %s

func.func @clamp() {
  %min = stablehlo.constant dense<[5, 10, 15]> : tensor<3xi32>
  %operand = stablehlo.constant dense<[3, 13, 23]> : tensor<3xi32>
  %max = stablehlo.constant dense<[10, 15, 20]> : tensor<3xi32>
  %result = stablehlo.clamp %min, %operand, %max : tensor<3xi32>
  check.expect_eq_const %result, dense<[5, 13, 20]> : tensor<3xi32>
  func.return
}

// -----

func.func @clamp_scalars() {
  %min = stablehlo.constant dense<0.0> : tensor<f32>
  %operand = stablehlo.constant dense<[-1.0, 0.5, 0x7FC00000, 7.0]> : tensor<4xf32>
  %max = stablehlo.constant dense<1.0> : tensor<f32>
  %result = stablehlo.clamp %min, %operand, %max : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  check.expect_almost_eq_const %result, dense<[0.000000e+00, 5.000000e-01, 0x7FC00000, 1.000000e+00]> : tensor<4xf32>
  func.return
}
