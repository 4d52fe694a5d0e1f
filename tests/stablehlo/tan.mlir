// RUN: stablehlo-translate --interpret -split-input-file %s

func.func @tan_f64() {
  %operand = stablehlo.constant dense<[0.0, 0.78539816339744831, -1.0]> : tensor<3xf64>
  %result = stablehlo.tan %operand : tensor<3xf64>
  check.expect_almost_eq_const %result, dense<[0.000000e+00, 0.99999999999999989, -1.5574077246549023]> : tensor<3xf64>
  func.return
}

// -----

func.func @tan_c_f64() {
  %operand = stablehlo.constant dense<[(0.5, 1.0)]> : tensor<1xcomplex<f64>>
  %result = stablehlo.tan %operand : tensor<1xcomplex<f64>>
  check.expect_almost_eq_const %result, dense<(0.19557731006593401,0.84296620484578333)> : tensor<1xcomplex<f64>>
  func.return
}
