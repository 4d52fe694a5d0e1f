// RUN: stablehlo-translate --interpret -split-input-file %s

func.func @pad() {
  %operand = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %padding_value = stablehlo.constant dense<0> : tensor<i32>
  %result = stablehlo.pad %operand, %padding_value, low = [0, 1], high = [2, 1], interior = [1, 2] : (tensor<2x3xi32>, tensor<i32>) -> tensor<5x9xi32>
  check.expect_eq_const %result, dense<[[0, 1, 0, 0, 2, 0, 0, 3, 0], [0, 0, 0, 0, 0, 0, 0, 0, 0], [0, 4, 0, 0, 5, 0, 0, 6, 0], [0, 0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0, 0]]> : tensor<5x9xi32>
  func.return
}

// -----

func.func @pad_negative() {
  %operand = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %padding_value = stablehlo.constant dense<9> : tensor<i32>
  %result = stablehlo.pad %operand, %padding_value, low = [1, -1], high = [0, -1], interior = [0, 0] : (tensor<2x3xi32>, tensor<i32>) -> tensor<3x1xi32>
  check.expect_eq_const %result, dense<[[9], [2], [5]]> : tensor<3x1xi32>
  func.return
}

// -----

func.func @pad_empty() {
  %operand = stablehlo.constant dense<[]> : tensor<0xi32>
  %padding_value = stablehlo.constant dense<9> : tensor<i32>
  %result = stablehlo.pad %operand, %padding_value, low = [1], high = [2], interior = [3] : (tensor<0xi32>, tensor<i32>) -> tensor<3xi32>
  check.expect_eq_const %result, dense<9> : tensor<3xi32>
  func.return
}

// -----

func.func @pad_to_nothing() {
  %operand = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %padding_value = stablehlo.constant dense<9> : tensor<i32>
  %result = stablehlo.pad %operand, %padding_value, low = [-1], high = [-1], interior = [0] : (tensor<2xi32>, tensor<i32>) -> tensor<0xi32>
  check.expect_eq_const %result, dense<> : tensor<0xi32>
  func.return
}
