// RUN: stablehlo-translate --interpret -split-input-file %s

func.func @dynamic_conv() {
  %lhs = stablehlo.constant dense<[[[1], [2], [3], [4]]]> : tensor<1x4x1xi64>
  %rhs = stablehlo.constant dense<[[[1]], [[10]]]> : tensor<2x1x1xi64>
  %padding = stablehlo.constant dense<[[1, 0]]> : tensor<1x2xi64>
  %result = "stablehlo.dynamic_conv"(%lhs, %rhs, %padding) <{window_strides = array<i64: 2>, dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<1x4x1xi64>, tensor<2x1x1xi64>, tensor<1x2xi64>) -> tensor<1x2x1xi64>
  check.expect_eq_const %result, dense<[[[10], [32]]]> : tensor<1x2x1xi64>
  func.return
}
