// RUN: stablehlo-translate --interpret -split-input-file %s

func.func @iota_i32() {
  %result = stablehlo.iota dim = 0 : tensor<3x2xi32>
  check.expect_eq_const %result, dense<[[0, 0], [1, 1], [2, 2]]> : tensor<3x2xi32>
  func.return
}

// -----

func.func @iota_f32() {
  %result = stablehlo.iota dim = 1 : tensor<2x3xf32>
  check.expect_almost_eq_const %result, dense<[[0.000000e+00, 1.000000e+00, 2.000000e+00], [0.000000e+00, 1.000000e+00, 2.000000e+00]]> : tensor<2x3xf32>
  func.return
}

// -----

func.func @iota_complex() {
  %result = stablehlo.iota dim = 1 : tensor<1x3xcomplex<f32>>
  check.expect_almost_eq_const %result, dense<[[(0.000000e+00,0.000000e+00), (1.000000e+00,0.000000e+00), (2.000000e+00,0.000000e+00)]]> : tensor<1x3xcomplex<f32>>
  func.return
}
