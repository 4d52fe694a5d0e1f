// RUN: stablehlo-translate --interpret -split-input-file %s

func.func @optimization_barrier() {
  %operand0 = stablehlo.constant dense<1> : tensor<i64>
  %operand1 = stablehlo.constant dense<2> : tensor<i64>
  %other, %result = stablehlo.optimization_barrier %operand0, %operand1 : tensor<i64>, tensor<i64>
  check.expect_eq_const %result, dense<2> : tensor<i64>
  func.return
}
