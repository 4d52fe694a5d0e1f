// RUN: stablehlo-translate --interpret -split-input-file %s

func.func @negate_i64() {
  %operand = stablehlo.constant dense<[5, -9223372036854775808, 0]> : tensor<3xi64>
  %result = stablehlo.negate %operand : tensor<3xi64>
  check.expect_eq_const %result, dense<[-5, -9223372036854775808, 0]> : tensor<3xi64>
  func.return
}

// -----

func.func @negate_ui8() {
  %operand = stablehlo.constant dense<[1, 0]> : tensor<2xui8>
  %result = stablehlo.negate %operand : tensor<2xui8>
  check.expect_eq_const %result, dense<[255, 0]> : tensor<2xui8>
  func.return
}

// -----

func.func @negate_f32() {
  %operand = stablehlo.constant dense<[1.5, -0.0]> : tensor<2xf32>
  %result = stablehlo.negate %operand : tensor<2xf32>
  check.expect_almost_eq_const %result, dense<[-1.500000e+00, 0.000000e+00]> : tensor<2xf32>
  func.return
}

// -----

func.func @negate_c_f64() {
  %operand = stablehlo.constant dense<[(1.0, -2.0)]> : tensor<1xcomplex<f64>>
  %result = stablehlo.negate %operand : tensor<1xcomplex<f64>>
  check.expect_almost_eq_const %result, dense<(-1.000000e+00,2.000000e+00)> : tensor<1xcomplex<f64>>
  func.return
}

// -----

func.func @negate_bf16_zero() {
  %operand = stablehlo.constant dense<[0.0, -0.0]> : tensor<2xbf16>
  %result = stablehlo.negate %operand : tensor<2xbf16>
  check.expect_eq_const %result, dense<[-0.000000e+00, 0.000000e+00]> : tensor<2xbf16>
  func.return
}
