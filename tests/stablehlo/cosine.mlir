// RUN: stablehlo-translate --interpret -split-input-file %s

func.func @cosine_f64() {
  %operand = stablehlo.constant dense<[0.0, 1.5707963267948966, 3.1415926535897931]> : tensor<3xf64>
  %result = stablehlo.cosine %operand : tensor<3xf64>
  check.expect_almost_eq_const %result, dense<[1.000000e+00, 6.123233995736766E-17, -1.000000e+00]> : tensor<3xf64>
  func.return
}

// -----

func.func @cosine_c_f64() {
  %operand = stablehlo.constant dense<[(0.5, 1.0)]> : tensor<1xcomplex<f64>>
  %result = stablehlo.cosine %operand : tensor<1xcomplex<f64>>
  check.expect_almost_eq_const %result, dense<(1.3541806567045842,-0.5634214652309818)> : tensor<1xcomplex<f64>>
  func.return
}
