// RUN: stablehlo-translate --interpret -split-input-file %s

func.func @exponential_f64() {
  %operand = stablehlo.constant dense<[0.0, 1.0, -1.0, 710.0]> : tensor<4xf64>
  %result = stablehlo.exponential %operand : tensor<4xf64>
  check.expect_almost_eq_const %result, dense<[1.000000e+00, 2.7182818284590451, 0.36787944117144233, 0x7FF0000000000000]> : tensor<4xf64>
  func.return
}

// -----

func.func @exponential_c_f64() {
  %operand = stablehlo.constant dense<[(1.0, 2.0)]> : tensor<1xcomplex<f64>>
  %result = stablehlo.exponential %operand : tensor<1xcomplex<f64>>
  check.expect_almost_eq_const %result, dense<(-1.1312043837568135,2.4717266720048188)> : tensor<1xcomplex<f64>>
  func.return
}

// -----

func.func @exponential_bf16() {
  %operand = stablehlo.constant dense<[1.0, -2.0]> : tensor<2xbf16>
  %result = stablehlo.exponential %operand : tensor<2xbf16>
  check.expect_almost_eq_const %result, dense<[2.718750e+00, 1.357420e-01]> : tensor<2xbf16>
  func.return
}
