// RUN: stablehlo-translate --interpret -split-input-file %s

func.func @reduce() {
  %input = stablehlo.constant dense<[[0, 1, 2, 3, 4, 5]]> : tensor<1x6xi64>
  %init_value = stablehlo.constant dense<10> : tensor<i64>
  %result = "stablehlo.reduce"(%input, %init_value) <{dimensions = array<i64: 1>}> ({
  ^bb0(%arg0: tensor<i64>, %arg1: tensor<i64>):
    %0 = stablehlo.add %arg0, %arg1 : tensor<i64>
    stablehlo.return %0 : tensor<i64>
  }) : (tensor<1x6xi64>, tensor<i64>) -> tensor<1xi64>
  check.expect_eq_const %result, dense<25> : tensor<1xi64>
  func.return
}

// -----

func.func @reduce_first_dimension() {
  %input = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi64>
  %init_value = stablehlo.constant dense<0> : tensor<i64>
  %result = "stablehlo.reduce"(%input, %init_value) <{dimensions = array<i64: 0>}> ({
  ^bb0(%arg0: tensor<i64>, %arg1: tensor<i64>):
    %0 = stablehlo.add %arg0, %arg1 : tensor<i64>
    stablehlo.return %0 : tensor<i64>
  }) : (tensor<2x3xi64>, tensor<i64>) -> tensor<3xi64>
  check.expect_eq_const %result, dense<[5, 7, 9]> : tensor<3xi64>
  func.return
}

// -----

func.func @reduce_promotes() {
  %input = stablehlo.constant dense<[100, 100, 100]> : tensor<3xi8>
  %init_value = stablehlo.constant dense<0> : tensor<i8>
  %result = "stablehlo.reduce"(%input, %init_value) <{dimensions = array<i64: 0>}> ({
  ^bb0(%arg0: tensor<i32>, %arg1: tensor<i32>):
    %0 = stablehlo.add %arg0, %arg1 : tensor<i32>
    stablehlo.return %0 : tensor<i32>
  }) : (tensor<3xi8>, tensor<i8>) -> tensor<i32>
  check.expect_eq_const %result, dense<300> : tensor<i32>
  func.return
}

// -----

func.func @reduce_argmax() {
  %input0 = stablehlo.constant dense<[3.0, 7.0, 7.0, 1.0]> : tensor<4xf32>
  %input1 = stablehlo.constant dense<[0, 1, 2, 3]> : tensor<4xi32>
  %init_value0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %init_value1 = stablehlo.constant dense<-1> : tensor<i32>
  %largest, %result = "stablehlo.reduce"(%input0, %input1, %init_value0, %init_value1) <{dimensions = array<i64: 0>}> ({
  ^bb0(%arg0: tensor<f32>, %arg1: tensor<i32>, %arg2: tensor<f32>, %arg3: tensor<i32>):
    %0 = stablehlo.compare GE, %arg0, %arg2 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %1 = stablehlo.select %0, %arg0, %arg2 : tensor<i1>, tensor<f32>
    %2 = stablehlo.select %0, %arg1, %arg3 : tensor<i1>, tensor<i32>
    stablehlo.return %1, %2 : tensor<f32>, tensor<i32>
  }) : (tensor<4xf32>, tensor<4xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)
  check.expect_eq_const %result, dense<1> : tensor<i32>
  func.return
}
