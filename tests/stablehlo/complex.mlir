// RUN: stablehlo-translate --interpret -split-input-file %s

func.func @complex_f64() {
  %lhs = stablehlo.constant dense<[1.0, 3.0]> : tensor<2xf64>
  %rhs = stablehlo.constant dense<[2.0, -0.0]> : tensor<2xf64>
  %result = stablehlo.complex %lhs, %rhs : tensor<2xcomplex<f64>>
  check.expect_eq_const %result, dense<[(1.000000e+00,2.000000e+00), (3.000000e+00,-0.000000e+00)]> : tensor<2xcomplex<f64>>
  func.return
}
