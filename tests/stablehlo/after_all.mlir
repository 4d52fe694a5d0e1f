// RUN: stablehlo-translate --interpret -split-input-file %s

func.func @after_all() {
  %token0 = stablehlo.after_all : !stablehlo.token
  %token1 = stablehlo.after_all %token0 : !stablehlo.token
  %result = stablehlo.constant dense<7> : tensor<i64>
  check.expect_eq_const %result, dense<7> : tensor<i64>
  func.return
}
