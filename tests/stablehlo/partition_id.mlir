// RUN: stablehlo-translate --interpret -split-input-file %s

func.func @partition_id() {
  %result = stablehlo.partition_id : tensor<ui32>
  check.expect_eq_const %result, dense<0> : tensor<ui32>
  func.return
}
