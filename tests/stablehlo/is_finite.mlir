// RUN: stablehlo-translate --interpret -split-input-file %s

func.func @is_finite_f32() {
  %operand = stablehlo.constant dense<[0x7FC00000, 0x7F800000, 0xFF800000, 1.0, -0.0]> : tensor<5xf32>
  %result = stablehlo.is_finite %operand : (tensor<5xf32>) -> tensor<5xi1>
  check.expect_eq_const %result, dense<[false, false, false, true, true]> : tensor<5xi1>
  func.return
}
