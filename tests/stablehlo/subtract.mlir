// RUN: stablehlo-translate --interpret -split-input-file %s

func.func @subtract_i64() {
  %lhs = stablehlo.constant dense<[-9223372036854775808, 5, 0]> : tensor<3xi64>
  %rhs = stablehlo.constant dense<[1, 7, 0]> : tensor<3xi64>
  %result = stablehlo.subtract %lhs, %rhs : tensor<3xi64>
  check.expect_eq_const %result, dense<[9223372036854775807, -2, 0]> : tensor<3xi64>
  func.return
}

// -----

func.func @subtract_ui8() {
  %lhs = stablehlo.constant dense<[0, 200]> : tensor<2xui8>
  %rhs = stablehlo.constant dense<[1, 100]> : tensor<2xui8>
  %result = stablehlo.subtract %lhs, %rhs : tensor<2xui8>
  check.expect_eq_const %result, dense<[255, 100]> : tensor<2xui8>
  func.return
}

// -----

func.func @subtract_f64() {
  %lhs = stablehlo.constant dense<[1.0, 0.1]> : tensor<2xf64>
  %rhs = stablehlo.constant dense<[3.5, 0.1]> : tensor<2xf64>
  %result = stablehlo.subtract %lhs, %rhs : tensor<2xf64>
  check.expect_almost_eq_const %result, dense<[-2.500000e+00, 0.000000e+00]> : tensor<2xf64>
  func.return
}

// -----

func.func @subtract_c_f64() {
  %lhs = stablehlo.constant dense<[(1.0, -2.0)]> : tensor<1xcomplex<f64>>
  %rhs = stablehlo.constant dense<[(2.0, 5.0)]> : tensor<1xcomplex<f64>>
  %result = stablehlo.subtract %lhs, %rhs : tensor<1xcomplex<f64>>
  check.expect_almost_eq_const %result, dense<(-1.000000e+00,-7.000000e+00)> : tensor<1xcomplex<f64>>
  func.return
}
