// RUN: stablehlo-translate --interpret -split-input-file %s

func.func @reduce_window() {
  %input = stablehlo.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi64>
  %init_value = stablehlo.constant dense<0> : tensor<i64>
  %result = "stablehlo.reduce_window"(%input, %init_value) <{window_dimensions = array<i64: 2, 1>, window_strides = array<i64: 4, 1>, base_dilations = array<i64: 2, 1>, window_dilations = array<i64: 3, 1>, padding = dense<[[2, 1], [0, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%arg0: tensor<i64>, %arg1: tensor<i64>):
    %0 = stablehlo.add %arg0, %arg1 : tensor<i64>
    stablehlo.return %0 : tensor<i64>
  }) : (tensor<3x2xi64>, tensor<i64>) -> tensor<2x2xi64>
  check.expect_eq_const %result, dense<[[0, 0], [3, 4]]> : tensor<2x2xi64>
  func.return
}

// -----

func.func @reduce_window_initial() {
  %input = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi64>
  %init_value = stablehlo.constant dense<100> : tensor<i64>
  %result = "stablehlo.reduce_window"(%input, %init_value) <{window_dimensions = array<i64: 2>, padding = dense<[[1, 0]]> : tensor<1x2xi64>}> ({
  ^bb0(%arg0: tensor<i64>, %arg1: tensor<i64>):
    %0 = stablehlo.maximum %arg0, %arg1 : tensor<i64>
    stablehlo.return %0 : tensor<i64>
  }) : (tensor<4xi64>, tensor<i64>) -> tensor<4xi64>
  check.expect_eq_const %result, dense<100> : tensor<4xi64>
  func.return
}

// -----

func.func @reduce_window_promotes() {
  %input = stablehlo.constant dense<[100, 100, 100]> : tensor<3xi8>
  %init_value = stablehlo.constant dense<0> : tensor<i8>
  %result = "stablehlo.reduce_window"(%input, %init_value) <{window_dimensions = array<i64: 2>}> ({
  ^bb0(%arg0: tensor<i32>, %arg1: tensor<i32>):
    %0 = stablehlo.add %arg0, %arg1 : tensor<i32>
    stablehlo.return %0 : tensor<i32>
  }) : (tensor<3xi8>, tensor<i8>) -> tensor<2xi32>
  check.expect_eq_const %result, dense<200> : tensor<2xi32>
  func.return
}

// -----

func.func @reduce_window_padding() {
  %input = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi64>
  %init_value = stablehlo.constant dense<0> : tensor<i64>
  %result = "stablehlo.reduce_window"(%input, %init_value) <{window_dimensions = array<i64: 2, 2>, padding = dense<[[0, 1], [2, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%arg0: tensor<i64>, %arg1: tensor<i64>):
    %0 = stablehlo.add %arg0, %arg1 : tensor<i64>
    stablehlo.return %0 : tensor<i64>
  }) : (tensor<2x3xi64>, tensor<i64>) -> tensor<2x4xi64>
  check.expect_eq_const %result, dense<[[0, 5, 12, 16], [0, 4, 9, 11]]> : tensor<2x4xi64>
  func.return
}
