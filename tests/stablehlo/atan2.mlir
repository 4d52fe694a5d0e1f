// RUN: stablehlo-translate --interpret -split-input-file %s

func.func @atan2_f64() {
  %lhs = stablehlo.constant dense<[0.0, 1.0, -1.0, 0.0]> : tensor<4xf64>
  %rhs = stablehlo.constant dense<[1.0, 0.0, -1.0, -1.0]> : tensor<4xf64>
  %result = stablehlo.atan2 %lhs, %rhs : tensor<4xf64>
  check.expect_almost_eq_const %result, dense<[0.000000e+00, 1.5707963267948966, -2.3561944901923448, 3.1415926535897931]> : tensor<4xf64>
  func.return
}

// -----

func.func @atan2_c_f64() {
  %lhs = stablehlo.constant dense<[(1.0, 0.5)]> : tensor<1xcomplex<f64>>
  %rhs = stablehlo.constant dense<[(3.0, 0.25)]> : tensor<1xcomplex<f64>>
  %result = stablehlo.atan2 %lhs, %rhs : tensor<1xcomplex<f64>>
  check.expect_almost_eq_const %result, dense<(0.33737047111177632,0.12367406045902665)> : tensor<1xcomplex<f64>>
  func.return
}
