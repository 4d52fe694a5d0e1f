// RUN: stablehlo-translate --interpret -split-input-file %s

func.func @convolution() {
  %lhs = stablehlo.constant dense<[[[[1], [2], [5], [6]], [[3], [4], [7], [8]], [[10], [11], [14], [15]], [[12], [13], [16], [17]]]]> : tensor<1x4x4x1xi64>
  %rhs = stablehlo.constant dense<[[[[1]], [[2]], [[0]]], [[[1]], [[1]], [[1]]], [[[3]], [[1]], [[1]]]]> : tensor<3x3x1x1xi64>
  %result = stablehlo.convolution(%lhs, %rhs) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [4, 4], pad = [[1, 1], [1, 1]], lhs_dilate = [2, 2], rhs_dilate = [1, 1], reverse = [false, false]} {feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<1x4x4x1xi64>, tensor<3x3x1x1xi64>) -> tensor<1x2x2x1xi64>
  check.expect_eq_const %result, dense<[[[[1], [5]], [[10], [14]]]]> : tensor<1x2x2x1xi64>
  func.return
}

// -----

func.func @convolution_reversed() {
  %lhs = stablehlo.constant dense<[[[1], [2], [3], [4]]]> : tensor<1x4x1xi64>
  %rhs = stablehlo.constant dense<[[[1]], [[10]]]> : tensor<2x1x1xi64>
  %result = stablehlo.convolution(%lhs, %rhs) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {rhs_dilate = [2], reverse = [true]} {feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<1x4x1xi64>, tensor<2x1x1xi64>) -> tensor<1x2x1xi64>
  check.expect_eq_const %result, dense<[[[13], [24]]]> : tensor<1x2x1xi64>
  func.return
}

// -----

func.func @convolution_feature_groups() {
  %lhs = stablehlo.constant dense<[[[1, 10], [2, 20], [3, 30]]]> : tensor<1x3x2xi64>
  %rhs = stablehlo.constant dense<[[[1, 2, 3, 4]], [[1, 1, 1, 1]]]> : tensor<2x1x4xi64>
  %result = stablehlo.convolution(%lhs, %rhs) dim_numbers = [b, 0, f]x[0, i, o]->[f, b, 0], window = {} {feature_group_count = 2 : i64, batch_group_count = 1 : i64} : (tensor<1x3x2xi64>, tensor<2x1x4xi64>) -> tensor<4x1x2xi64>
  check.expect_eq_const %result, dense<[[[3, 5]], [[4, 7]], [[50, 90]], [[60, 110]]]> : tensor<4x1x2xi64>
  func.return
}

// -----

func.func @convolution_batch_groups() {
  %lhs = stablehlo.constant dense<[[[1], [2]], [[10], [20]]]> : tensor<2x2x1xi64>
  %rhs = stablehlo.constant dense<[[[1, 3]], [[2, 4]]]> : tensor<2x1x2xi64>
  %result = stablehlo.convolution(%lhs, %rhs) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {feature_group_count = 1 : i64, batch_group_count = 2 : i64} : (tensor<2x2x1xi64>, tensor<2x1x2xi64>) -> tensor<1x1x2xi64>
  check.expect_eq_const %result, dense<[[[5, 110]]]> : tensor<1x1x2xi64>
  func.return
}

// -----

func.func @convolution_channels() {
  %lhs = stablehlo.constant dense<[[[1.0, 2.0], [3.0, 4.0]]]> : tensor<1x2x2xf32>
  %rhs = stablehlo.constant dense<[[[1.0, 0.5], [2.0, -1.0]]]> : tensor<1x2x2xf32>
  %result = stablehlo.convolution(%lhs, %rhs) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<1x2x2xf32>, tensor<1x2x2xf32>) -> tensor<1x2x2xf32>
  check.expect_almost_eq_const %result, dense<[[[5.000000e+00, -1.500000e+00], [1.100000e+01, -2.500000e+00]]]> : tensor<1x2x2xf32>
  func.return
}

// -----

func.func @convolution_no_window() {
  %lhs = stablehlo.constant dense<[[[1], [2]]]> : tensor<1x2x1xi64>
  %rhs = stablehlo.constant dense<[[[1]], [[1]], [[1]]]> : tensor<3x1x1xi64>
  %result = stablehlo.convolution(%lhs, %rhs) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<1x2x1xi64>, tensor<3x1x1xi64>) -> tensor<1x0x1xi64>
  check.expect_eq_const %result, dense<> : tensor<1x0x1xi64>
  func.return
}

// -----

func.func @convolution_i8_to_i32() {
  %lhs = stablehlo.constant dense<[[[100], [100]]]> : tensor<1x2x1xi8>
  %rhs = stablehlo.constant dense<[[[100]], [[27]]]> : tensor<2x1x1xi8>
  %result = stablehlo.convolution(%lhs, %rhs) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<1x2x1xi8>, tensor<2x1x1xi8>) -> tensor<1x1x1xi32>
  check.expect_eq_const %result, dense<12700> : tensor<1x1x1xi32>
  func.return
}

// -----

func.func @convolution_padding() {
  %lhs = stablehlo.constant dense<[[[[1], [2], [3]], [[4], [5], [6]]]]> : tensor<1x2x3x1xi64>
  %rhs = stablehlo.constant dense<[[[[1]], [[10]]], [[[100]], [[1000]]]]> : tensor<2x2x1x1xi64>
  %result = stablehlo.convolution(%lhs, %rhs) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 0], [0, 2]]} {feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<1x2x3x1xi64>, tensor<2x2x1x1xi64>) -> tensor<1x2x4x1xi64>
  check.expect_eq_const %result, dense<[[[[2100], [3200], [300], [0]], [[5421], [6532], [603], [0]]]]> : tensor<1x2x4x1xi64>
  func.return
}

// -----

func.func @convolution_empty_input() {
  %lhs = stablehlo.constant dense<> : tensor<1x0x1xi64>
  %rhs = stablehlo.constant dense<[[[1]], [[1]]]> : tensor<2x1x1xi64>
  %result = stablehlo.convolution(%lhs, %rhs) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[1, 1]]} {feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<1x0x1xi64>, tensor<2x1x1xi64>) -> tensor<1x1x1xi64>
  check.expect_eq_const %result, dense<0> : tensor<1x1x1xi64>
  func.return
}
