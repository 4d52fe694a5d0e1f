// RUN: stablehlo-translate --interpret -split-input-file %s

func.func @gather() {
  %operand = stablehlo.constant dense<[[[1, 2], [3, 4], [5, 6], [7, 8]], [[9, 10], [11, 12], [13, 14], [15, 16]], [[17, 18], [19, 20], [21, 22], [23, 24]]]> : tensor<3x4x2xi32>
  %start_indices = stablehlo.constant dense<[[[0, 0], [1, 0], [2, 1]], [[0, 1], [-3, 1], [0, 9]]]> : tensor<2x3x2xi64>
  %result = "stablehlo.gather"(%operand, %start_indices) <{dimension_numbers = #stablehlo.gather<offset_dims = [2, 3], collapsed_slice_dims = [0], start_index_map = [1, 0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 2, 2>, indices_are_sorted = false}> : (tensor<3x4x2xi32>, tensor<2x3x2xi64>) -> tensor<2x3x2x2xi32>
  check.expect_eq_const %result, dense<[[[[1, 2], [3, 4]], [[3, 4], [5, 6]], [[13, 14], [15, 16]]], [[[9, 10], [11, 12]], [[9, 10], [11, 12]], [[17, 18], [19, 20]]]]> : tensor<2x3x2x2xi32>
  func.return
}

// -----

func.func @gather_scalar_indices() {
  %operand = stablehlo.constant dense<[10, 20, 30, 40]> : tensor<4xi32>
  %start_indices = stablehlo.constant dense<[3, 0]> : tensor<2xi64>
  %result = "stablehlo.gather"(%operand, %start_indices) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 2>, indices_are_sorted = false}> : (tensor<4xi32>, tensor<2xi64>) -> tensor<2x2xi32>
  check.expect_eq_const %result, dense<[[30, 10], [40, 20]]> : tensor<2x2xi32>
  func.return
}

// -----

func.func @gather_batching() {
  %operand = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %start_indices = stablehlo.constant dense<[[2], [0]]> : tensor<2x1xi64>
  %result = "stablehlo.gather"(%operand, %start_indices) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>, indices_are_sorted = false}> : (tensor<2x3xi32>, tensor<2x1xi64>) -> tensor<2xi32>
  check.expect_eq_const %result, dense<[3, 4]> : tensor<2xi32>
  func.return
}

// -----

func.func @gather_batching_behind() {
  %operand = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %start_indices = stablehlo.constant dense<[[2, 0]]> : tensor<1x2xi64>
  %result = "stablehlo.gather"(%operand, %start_indices) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [1], start_index_map = [1], index_vector_dim = 0>, slice_sizes = array<i64: 1, 1>, indices_are_sorted = false}> : (tensor<2x3xi32>, tensor<1x2xi64>) -> tensor<2xi32>
  check.expect_eq_const %result, dense<[3, 4]> : tensor<2xi32>
  func.return
}

// -----

func.func @gather_batching_of_two() {
  %operand = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6], [7, 8, 9]]> : tensor<3x3xi32>
  %start_indices = stablehlo.constant dense<[[[2], [0]], [[1], [1]], [[0], [2]]]> : tensor<3x2x1xi64>
  %result = "stablehlo.gather"(%operand, %start_indices) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>, indices_are_sorted = false}> : (tensor<3x3xi32>, tensor<3x2x1xi64>) -> tensor<3x2xi32>
  check.expect_eq_const %result, dense<[[3, 1], [5, 5], [7, 9]]> : tensor<3x2xi32>
  func.return
}

// -----

func.func @gather_batching_behind_of_two() {
  %operand = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %start_indices = stablehlo.constant dense<[[[2, 0], [1, 1], [0, 2]]]> : tensor<1x3x2xi64>
  %result = "stablehlo.gather"(%operand, %start_indices) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [2], start_index_map = [1], index_vector_dim = 0>, slice_sizes = array<i64: 1, 1>, indices_are_sorted = false}> : (tensor<2x3xi32>, tensor<1x3x2xi64>) -> tensor<3x2xi32>
  check.expect_eq_const %result, dense<[[3, 4], [2, 5], [1, 6]]> : tensor<3x2xi32>
  func.return
}
