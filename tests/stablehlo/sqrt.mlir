// RUN: stablehlo-translate --interpret -split-input-file %s

func.func @sqrt_f64() {
  %operand = stablehlo.constant dense<[0.0, 1.0, 4.0, 10.0]> : tensor<4xf64>
  %result = stablehlo.sqrt %operand : tensor<4xf64>
  check.expect_almost_eq_const %result, dense<[0.000000e+00, 1.000000e+00, 2.000000e+00, 3.1622776601683795]> : tensor<4xf64>
  func.return
}

// -----

func.func @sqrt_c_f64() {
  %operand = stablehlo.constant dense<[(1.0, 2.0)]> : tensor<1xcomplex<f64>>
  %result = stablehlo.sqrt %operand : tensor<1xcomplex<f64>>
  check.expect_almost_eq_const %result, dense<(1.272019649514069,0.78615137775742328)> : tensor<1xcomplex<f64>>
  func.return
}

// -----

func.func @sqrt_f32_rounds_once() {
  %operand = stablehlo.constant dense<[2.0, 3.0]> : tensor<2xf32>
  %result = stablehlo.sqrt %operand : tensor<2xf32>
  check.expect_eq_const %result, dense<[1.41421354, 1.73205078]> : tensor<2xf32>
  func.return
}
