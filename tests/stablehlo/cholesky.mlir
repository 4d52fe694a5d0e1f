// RUN: stablehlo-translate --interpret -split-input-file %s

func.func @cholesky_lower() {
  %a = stablehlo.constant dense<[[1.0, 9.0, 9.0], [2.0, 20.0, 9.0], [3.0, 26.0, 70.0]]> : tensor<3x3xf32>
  %result = stablehlo.cholesky %a, lower = true : tensor<3x3xf32>
  check.expect_almost_eq_const %result, dense<[[1.000000e+00, 0.000000e+00, 0.000000e+00], [2.000000e+00, 4.000000e+00, 0.000000e+00], [3.000000e+00, 5.000000e+00, 6.000000e+00]]> : tensor<3x3xf32>
  func.return
}

// -----

func.func @cholesky_upper() {
  %a = stablehlo.constant dense<[[1.0, 2.0, 3.0], [9.0, 20.0, 26.0], [9.0, 9.0, 70.0]]> : tensor<3x3xf32>
  %result = stablehlo.cholesky %a, lower = false : tensor<3x3xf32>
  check.expect_almost_eq_const %result, dense<[[1.000000e+00, 2.000000e+00, 3.000000e+00], [0.000000e+00, 4.000000e+00, 5.000000e+00], [0.000000e+00, 0.000000e+00, 6.000000e+00]]> : tensor<3x3xf32>
  func.return
}

// -----

func.func @cholesky_complex() {
  %a = stablehlo.constant dense<[[(4.0, 0.0), (0.0, 0.0)], [(2.0, 2.0), (6.0, 0.0)]]> : tensor<2x2xcomplex<f64>>
  %result = stablehlo.cholesky %a, lower = true : tensor<2x2xcomplex<f64>>
  check.expect_almost_eq_const %result, dense<[[(2.000000e+00,0.000000e+00), (0.000000e+00,0.000000e+00)], [(1.000000e+00,1.000000e+00), (2.000000e+00,0.000000e+00)]]> : tensor<2x2xcomplex<f64>>
  func.return
}

// -----

func.func @cholesky_complex_upper() {
  %a = stablehlo.constant dense<[[(4.0, 0.0), (2.0, -2.0)], [(0.0, 0.0), (6.0, 0.0)]]> : tensor<2x2xcomplex<f64>>
  %result = stablehlo.cholesky %a, lower = false : tensor<2x2xcomplex<f64>>
  check.expect_almost_eq_const %result, dense<[[(2.000000e+00,0.000000e+00), (1.000000e+00,-1.000000e+00)], [(0.000000e+00,0.000000e+00), (2.000000e+00,0.000000e+00)]]> : tensor<2x2xcomplex<f64>>
  func.return
}

// -----

func.func @cholesky_batch() {
  %a = stablehlo.constant dense<[[[[1.0, 2.0], [2.0, 20.0]], [[4.0, 2.0], [2.0, 5.0]], [[9.0, 3.0], [3.0, 2.0]]]]> : tensor<1x3x2x2xf64>
  %result = stablehlo.cholesky %a, lower = true : tensor<1x3x2x2xf64>
  check.expect_almost_eq_const %result, dense<[[[[1.000000e+00, 0.000000e+00], [2.000000e+00, 4.000000e+00]], [[2.000000e+00, 0.000000e+00], [1.000000e+00, 2.000000e+00]], [[3.000000e+00, 0.000000e+00], [1.000000e+00, 1.000000e+00]]]]> : tensor<1x3x2x2xf64>
  func.return
}
