// RUN: stablehlo-translate --interpret -split-input-file %s

func.func @batch_norm_grad_operand() {
  %operand = stablehlo.constant dense<[[[1.0, 2.0], [3.0, 4.0]], [[3.0, 4.0], [1.0, 2.0]]]> : tensor<2x2x2xf64>
  %scale = stablehlo.constant dense<[1.0, 1.5]> : tensor<2xf64>
  %mean = stablehlo.constant dense<[2.0, 3.0]> : tensor<2xf64>
  %variance = stablehlo.constant dense<[1.0, 4.0]> : tensor<2xf64>
  %grad_output = stablehlo.constant dense<[[[0.1, 0.2], [0.1, 0.5]], [[0.3, 0.1], [0.1, 0.7]]]> : tensor<2x2x2xf64>
  %result, %grad_scale, %grad_offset = "stablehlo.batch_norm_grad"(%operand, %scale, %mean, %variance, %grad_output) <{epsilon = 0.5 : f32, feature_index = 2 : i64}> : (tensor<2x2x2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2x2x2xf64>) -> (tensor<2x2x2xf64>, tensor<2xf64>, tensor<2xf64>)
  check.expect_almost_eq_const %result, dense<[[[-0.013608276348795427, -0.1355287997274216], [-0.06804138174397717, 0.10017346066809424]], [[0.095257934441568048, -0.1826692518065248], [-0.013608276348795427, 0.21802459086585213]]]> : tensor<2x2x2xf64>
  func.return
}

// -----

func.func @batch_norm_grad_scale() {
  %operand = stablehlo.constant dense<[[[1.0, 2.0], [3.0, 4.0]], [[3.0, 4.0], [1.0, 2.0]]]> : tensor<2x2x2xf64>
  %scale = stablehlo.constant dense<[1.0, 1.5]> : tensor<2xf64>
  %mean = stablehlo.constant dense<[2.0, 3.0]> : tensor<2xf64>
  %variance = stablehlo.constant dense<[1.0, 4.0]> : tensor<2xf64>
  %grad_output = stablehlo.constant dense<[[[0.1, 0.2], [0.1, 0.5]], [[0.3, 0.1], [0.1, 0.7]]]> : tensor<2x2x2xf64>
  %grad_operand, %result, %grad_offset = "stablehlo.batch_norm_grad"(%operand, %scale, %mean, %variance, %grad_output) <{epsilon = 0.5 : f32, feature_index = 2 : i64}> : (tensor<2x2x2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2x2x2xf64>) -> (tensor<2x2x2xf64>, tensor<2xf64>, tensor<2xf64>)
  check.expect_almost_eq_const %result, dense<[0.16329931618554522, -0.1414213562373095]> : tensor<2xf64>
  func.return
}

// -----

func.func @batch_norm_grad_offset() {
  %operand = stablehlo.constant dense<[[[1.0, 2.0], [3.0, 4.0]], [[3.0, 4.0], [1.0, 2.0]]]> : tensor<2x2x2xf64>
  %scale = stablehlo.constant dense<[1.0, 1.5]> : tensor<2xf64>
  %mean = stablehlo.constant dense<[2.0, 3.0]> : tensor<2xf64>
  %variance = stablehlo.constant dense<[1.0, 4.0]> : tensor<2xf64>
  %grad_output = stablehlo.constant dense<[[[0.1, 0.2], [0.1, 0.5]], [[0.3, 0.1], [0.1, 0.7]]]> : tensor<2x2x2xf64>
  %grad_operand, %grad_scale, %result = "stablehlo.batch_norm_grad"(%operand, %scale, %mean, %variance, %grad_output) <{epsilon = 0.5 : f32, feature_index = 2 : i64}> : (tensor<2x2x2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2x2x2xf64>) -> (tensor<2x2x2xf64>, tensor<2xf64>, tensor<2xf64>)
  check.expect_almost_eq_const %result, dense<[6.000000e-01, 1.500000e+00]> : tensor<2xf64>
  func.return
}
