// RUN: stablehlo-translate --interpret -split-input-file %s

func.func @case_minus_1() {
  %index = stablehlo.constant dense<-1> : tensor<i32>
  %result_branch0 = stablehlo.constant dense<10> : tensor<i64>
  %result_branch1 = stablehlo.constant dense<11> : tensor<i64>
  %result = "stablehlo.case"(%index) ({
    stablehlo.return %result_branch0 : tensor<i64>
  }, {
    stablehlo.return %result_branch1 : tensor<i64>
  }) : (tensor<i32>) -> tensor<i64>
  check.expect_eq_const %result, dense<11> : tensor<i64>
  func.return
}

// -----

func.func @case_0() {
  %index = stablehlo.constant dense<0> : tensor<i32>
  %result_branch0 = stablehlo.constant dense<10> : tensor<i64>
  %result_branch1 = stablehlo.constant dense<11> : tensor<i64>
  %result = "stablehlo.case"(%index) ({
    stablehlo.return %result_branch0 : tensor<i64>
  }, {
    stablehlo.return %result_branch1 : tensor<i64>
  }) : (tensor<i32>) -> tensor<i64>
  check.expect_eq_const %result, dense<10> : tensor<i64>
  func.return
}

// -----

func.func @case_1() {
  %index = stablehlo.constant dense<1> : tensor<i32>
  %result_branch0 = stablehlo.constant dense<10> : tensor<i64>
  %result_branch1 = stablehlo.constant dense<11> : tensor<i64>
  %result = "stablehlo.case"(%index) ({
    stablehlo.return %result_branch0 : tensor<i64>
  }, {
    stablehlo.return %result_branch1 : tensor<i64>
  }) : (tensor<i32>) -> tensor<i64>
  check.expect_eq_const %result, dense<11> : tensor<i64>
  func.return
}

// -----

func.func @case_5() {
  %index = stablehlo.constant dense<5> : tensor<i32>
  %result_branch0 = stablehlo.constant dense<10> : tensor<i64>
  %result_branch1 = stablehlo.constant dense<11> : tensor<i64>
  %result = "stablehlo.case"(%index) ({
    stablehlo.return %result_branch0 : tensor<i64>
  }, {
    stablehlo.return %result_branch1 : tensor<i64>
  }) : (tensor<i32>) -> tensor<i64>
  check.expect_eq_const %result, dense<11> : tensor<i64>
  func.return
}
