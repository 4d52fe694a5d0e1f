// RUN: stablehlo-translate --interpret -split-input-file %s

func.func @sort_rows() {
  %input0 = stablehlo.constant dense<[[1, 2, 3], [3, 2, 1], [3, 0, 2]]> : tensor<3x3xi64>
  %input1 = stablehlo.constant dense<[[3, 2, 1], [1, 2, 3], [7, 8, 9]]> : tensor<3x3xi64>
  %result, %other = "stablehlo.sort"(%input0, %input1) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%arg0: tensor<i64>, %arg1: tensor<i64>, %arg2: tensor<i64>, %arg3: tensor<i64>):
    %predicate = stablehlo.compare LT, %arg0, %arg1 : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.return %predicate : tensor<i1>
  }) : (tensor<3x3xi64>, tensor<3x3xi64>) -> (tensor<3x3xi64>, tensor<3x3xi64>)
  check.expect_eq_const %result, dense<[[1, 2, 3], [1, 2, 3], [0, 2, 3]]> : tensor<3x3xi64>
  func.return
}

// -----

func.func @sort_columns_together() {
  %input0 = stablehlo.constant dense<[[1, 2, 3], [3, 2, 1], [3, 0, 2]]> : tensor<3x3xi64>
  %input1 = stablehlo.constant dense<[[3, 2, 1], [1, 2, 3], [7, 8, 9]]> : tensor<3x3xi64>
  %other, %result = "stablehlo.sort"(%input0, %input1) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%arg0: tensor<i64>, %arg1: tensor<i64>, %arg2: tensor<i64>, %arg3: tensor<i64>):
    %predicate = stablehlo.compare GT, %arg0, %arg1 : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.return %predicate : tensor<i1>
  }) : (tensor<3x3xi64>, tensor<3x3xi64>) -> (tensor<3x3xi64>, tensor<3x3xi64>)
  check.expect_eq_const %result, dense<[[1, 2, 1], [7, 2, 9], [3, 8, 3]]> : tensor<3x3xi64>
  func.return
}

// -----

func.func @sort_negative_dimension() {
  %input0 = stablehlo.constant dense<[[1, 2, 3], [3, 2, 1], [3, 0, 2]]> : tensor<3x3xi64>
  %input1 = stablehlo.constant dense<[[3, 2, 1], [1, 2, 3], [7, 8, 9]]> : tensor<3x3xi64>
  %result, %other = "stablehlo.sort"(%input0, %input1) <{dimension = -1 : i64, is_stable = true}> ({
  ^bb0(%arg0: tensor<i64>, %arg1: tensor<i64>, %arg2: tensor<i64>, %arg3: tensor<i64>):
    %predicate = stablehlo.compare GT, %arg0, %arg1 : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.return %predicate : tensor<i1>
  }) : (tensor<3x3xi64>, tensor<3x3xi64>) -> (tensor<3x3xi64>, tensor<3x3xi64>)
  check.expect_eq_const %result, dense<[[3, 2, 1], [3, 2, 1], [3, 2, 0]]> : tensor<3x3xi64>
  func.return
}

// -----

func.func @sort_by_default_along_the_last() {
  %input0 = stablehlo.constant dense<[[[3, 1, 2], [6, 5, 4]]]> : tensor<1x2x3xi64>
  %result = "stablehlo.sort"(%input0) ({
  ^bb0(%arg0: tensor<i64>, %arg1: tensor<i64>):
    %predicate = stablehlo.compare LT, %arg0, %arg1 : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.return %predicate : tensor<i1>
  }) : (tensor<1x2x3xi64>) -> tensor<1x2x3xi64>
  check.expect_eq_const %result, dense<[[[1, 2, 3], [4, 5, 6]]]> : tensor<1x2x3xi64>
  func.return
}
