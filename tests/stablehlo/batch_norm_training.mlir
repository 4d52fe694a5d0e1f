// RUN: stablehlo-translate --interpret -split-input-file %s

func.func @batch_norm_training_output() {
  %operand = stablehlo.constant dense<[[[1.0, 2.0], [3.0, 4.0]], [[3.0, 4.0], [2.0, 2.0]]]> : tensor<2x2x2xf64>
  %scale = stablehlo.constant dense<[1.0, 1.5]> : tensor<2xf64>
  %offset = stablehlo.constant dense<[1.0, -1.0]> : tensor<2xf64>
  %result, %mean, %variance = "stablehlo.batch_norm_training"(%operand, %scale, %offset) <{epsilon = 0.5 : f32, feature_index = 2 : i64}> : (tensor<2x2x2xf64>, tensor<2xf64>, tensor<2xf64>) -> (tensor<2x2x2xf64>, tensor<2xf64>, tensor<2xf64>)
  check.expect_almost_eq_const %result, dense<[[[-0.14707866935280878, -2.2247448713915894], [1.6882472016116852, 0.22474487139158916]], [[1.6882472016116852, 0.22474487139158916], [0.7705842661294382, -2.2247448713915894]]]> : tensor<2x2x2xf64>
  func.return
}

// -----

func.func @batch_norm_training_mean() {
  %operand = stablehlo.constant dense<[[[1.0, 2.0], [3.0, 4.0]], [[3.0, 4.0], [2.0, 2.0]]]> : tensor<2x2x2xf64>
  %scale = stablehlo.constant dense<[1.0, 1.5]> : tensor<2xf64>
  %offset = stablehlo.constant dense<[1.0, -1.0]> : tensor<2xf64>
  %output, %result, %variance = "stablehlo.batch_norm_training"(%operand, %scale, %offset) <{epsilon = 0.5 : f32, feature_index = 2 : i64}> : (tensor<2x2x2xf64>, tensor<2xf64>, tensor<2xf64>) -> (tensor<2x2x2xf64>, tensor<2xf64>, tensor<2xf64>)
  check.expect_almost_eq_const %result, dense<[2.250000e+00, 3.000000e+00]> : tensor<2xf64>
  func.return
}

// -----

func.func @batch_norm_training_variance() {
  %operand = stablehlo.constant dense<[[[1.0, 2.0], [3.0, 4.0]], [[3.0, 4.0], [2.0, 2.0]]]> : tensor<2x2x2xf64>
  %scale = stablehlo.constant dense<[1.0, 1.5]> : tensor<2xf64>
  %offset = stablehlo.constant dense<[1.0, -1.0]> : tensor<2xf64>
  %output, %mean, %result = "stablehlo.batch_norm_training"(%operand, %scale, %offset) <{epsilon = 0.5 : f32, feature_index = 2 : i64}> : (tensor<2x2x2xf64>, tensor<2xf64>, tensor<2xf64>) -> (tensor<2x2x2xf64>, tensor<2xf64>, tensor<2xf64>)
  check.expect_almost_eq_const %result, dense<[6.875000e-01, 1.000000e+00]> : tensor<2xf64>
  func.return
}

// -----

func.func @batch_norm_training_one_feature() {
  %operand = stablehlo.constant dense<[[1.0], [3.0], [8.0]]> : tensor<3x1xf64>
  %scale = stablehlo.constant dense<[2.0]> : tensor<1xf64>
  %offset = stablehlo.constant dense<[1.0]> : tensor<1xf64>
  %output, %result, %variance = "stablehlo.batch_norm_training"(%operand, %scale, %offset) <{epsilon = 0.5 : f32, feature_index = 1 : i64}> : (tensor<3x1xf64>, tensor<1xf64>, tensor<1xf64>) -> (tensor<3x1xf64>, tensor<1xf64>, tensor<1xf64>)
  check.expect_almost_eq_const %result, dense<4.000000e+00> : tensor<1xf64>
  func.return
}
