// RUN: stablehlo-translate --interpret -split-input-file %s

func.func @call() {
  %arg0 = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
  %result = func.call @twice(%arg0) : (tensor<2xi64>) -> tensor<2xi64>
  check.expect_eq_const %result, dense<[2, 4]> : tensor<2xi64>
  func.return
}

func.func private @twice(%arg0: tensor<2xi64>) -> tensor<2xi64> {
  %0 = stablehlo.add %arg0, %arg0 : tensor<2xi64>
  func.return %0 : tensor<2xi64>
}
