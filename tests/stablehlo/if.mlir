// RUN: stablehlo-translate --interpret -split-input-file %s

func.func @if_true() {
  %pred = stablehlo.constant dense<true> : tensor<i1>
  %outer = stablehlo.constant dense<40> : tensor<i64>
  %result = "stablehlo.if"(%pred) ({
    %0 = stablehlo.constant dense<2> : tensor<i64>
    %1 = stablehlo.add %outer, %0 : tensor<i64>
    stablehlo.return %1 : tensor<i64>
  }, {
    stablehlo.return %outer : tensor<i64>
  }) : (tensor<i1>) -> tensor<i64>
  check.expect_eq_const %result, dense<42> : tensor<i64>
  func.return
}

// -----

func.func @if_false() {
  %pred = stablehlo.constant dense<false> : tensor<i1>
  %outer = stablehlo.constant dense<40> : tensor<i64>
  %result = "stablehlo.if"(%pred) ({
    %0 = stablehlo.constant dense<2> : tensor<i64>
    %1 = stablehlo.add %outer, %0 : tensor<i64>
    stablehlo.return %1 : tensor<i64>
  }, {
    stablehlo.return %outer : tensor<i64>
  }) : (tensor<i1>) -> tensor<i64>
  check.expect_eq_const %result, dense<40> : tensor<i64>
  func.return
}
