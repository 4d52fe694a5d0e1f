// RUN: stablehlo-translate --interpret -split-input-file %s

func.func @rsqrt_f64() {
  %operand = stablehlo.constant dense<[1.0, 4.0, 0.0, 10.0]> : tensor<4xf64>
  %result = stablehlo.rsqrt %operand : tensor<4xf64>
  check.expect_almost_eq_const %result, dense<[1.000000e+00, 5.000000e-01, 0x7FF0000000000000, 0.31622776601683794]> : tensor<4xf64>
  func.return
}

// -----

func.func @rsqrt_c_f64() {
  %operand = stablehlo.constant dense<[(1.0, 2.0)]> : tensor<1xcomplex<f64>>
  %result = stablehlo.rsqrt %operand : tensor<1xcomplex<f64>>
  check.expect_almost_eq_const %result, dense<(0.56886448100578313,-0.35157758425414293)> : tensor<1xcomplex<f64>>
  func.return
}
