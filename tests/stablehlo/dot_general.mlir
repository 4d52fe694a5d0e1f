// RUN: stablehlo-translate --interpret -split-input-file %s

func.func @dot_general() {
  %lhs = stablehlo.constant dense<[[[1, 2], [3, 4]], [[5, 6], [7, 8]]]> : tensor<2x2x2xi64>
  %rhs = stablehlo.constant dense<[[[1, 0], [0, 1]], [[2, 1], [0, 1]]]> : tensor<2x2x2xi64>
  %result = stablehlo.dot_general %lhs, %rhs, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x2x2xi64>, tensor<2x2x2xi64>) -> tensor<2x2x2xi64>
  check.expect_eq_const %result, dense<[[[1, 2], [3, 4]], [[10, 11], [14, 15]]]> : tensor<2x2x2xi64>
  func.return
}

// -----

func.func @dot_general_outer() {
  %lhs = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
  %rhs = stablehlo.constant dense<[3, 4, 5]> : tensor<3xi64>
  %result = stablehlo.dot_general %lhs, %rhs, contracting_dims = [] x [] : (tensor<2xi64>, tensor<3xi64>) -> tensor<2x3xi64>
  check.expect_eq_const %result, dense<[[3, 4, 5], [6, 8, 10]]> : tensor<2x3xi64>
  func.return
}

// -----

func.func @dot_general_i8_to_i32() {
  %lhs = stablehlo.constant dense<[[100, 100]]> : tensor<1x2xi8>
  %rhs = stablehlo.constant dense<[[100], [27]]> : tensor<2x1xi8>
  %result = stablehlo.dot_general %lhs, %rhs, contracting_dims = [1] x [0] : (tensor<1x2xi8>, tensor<2x1xi8>) -> tensor<1x1xi32>
  check.expect_eq_const %result, dense<12700> : tensor<1x1xi32>
  func.return
}

// -----

func.func @dot_general_two_contracting() {
  %lhs = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %rhs = stablehlo.constant dense<[[1.0, -1.0], [0.5, 2.0]]> : tensor<2x2xf32>
  %result = stablehlo.dot_general %lhs, %rhs, contracting_dims = [0, 1] x [1, 0] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<f32>
  check.expect_almost_eq_const %result, dense<7.000000e+00> : tensor<f32>
  func.return
}

// -----

func.func @dot_general_batch_elsewhere() {
  %lhs = stablehlo.constant dense<[[[[1, 2], [3, 4]], [[5, 6], [7, 8]], [[9, 1], [2, 3]]], [[[4, 5], [6, 7]], [[8, 9], [1, 2]], [[3, 4], [5, 6]]]]> : tensor<2x3x2x2xi64>
  %rhs = stablehlo.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi64>
  %result = stablehlo.dot_general %lhs, %rhs, batching_dims = [1] x [0], contracting_dims = [3] x [1] : (tensor<2x3x2x2xi64>, tensor<3x2xi64>) -> tensor<3x2x2xi64>
  check.expect_eq_const %result, dense<[[[5, 11], [14, 20]], [[39, 53], [60, 11]], [[51, 28], [39, 61]]]> : tensor<3x2x2xi64>
  func.return
}
