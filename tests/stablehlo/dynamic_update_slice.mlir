// RUN: stablehlo-translate --interpret -split-input-file %s

func.func @dynamic_update_slice() {
  %operand = stablehlo.constant dense<[[0, 0, 1, 0], [0, 0, 1, 0], [0, 0, 1, 0], [5, 6, 7, 8]]> : tensor<4x4xi32>
  %update = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %start_indices0 = stablehlo.constant dense<-1> : tensor<i64>
  %start_indices1 = stablehlo.constant dense<3> : tensor<i64>
  %result = stablehlo.dynamic_update_slice %operand, %update, %start_indices0, %start_indices1 : (tensor<4x4xi32>, tensor<2x2xi32>, tensor<i64>, tensor<i64>) -> tensor<4x4xi32>
  check.expect_eq_const %result, dense<[[0, 0, 1, 2], [0, 0, 3, 4], [0, 0, 1, 0], [5, 6, 7, 8]]> : tensor<4x4xi32>
  func.return
}
