// RUN: stablehlo-translate --interpret -split-input-file %s

func.func @power_i64() {
  %lhs = stablehlo.constant dense<[2, -2, -1, -1, 1, 0, 5]> : tensor<7xi64>
  %rhs = stablehlo.constant dense<[10, 3, -3, -2, -5, 0, -1]> : tensor<7xi64>
  %result = stablehlo.power %lhs, %rhs : tensor<7xi64>
  check.expect_eq_const %result, dense<[1024, -8, -1, 1, 1, 1, 0]> : tensor<7xi64>
  func.return
}

// -----

func.func @power_i8() {
  %lhs = stablehlo.constant dense<[3, -128]> : tensor<2xi8>
  %rhs = stablehlo.constant dense<[5, 2]> : tensor<2xi8>
  %result = stablehlo.power %lhs, %rhs : tensor<2xi8>
  check.expect_eq_const %result, dense<[-13, 0]> : tensor<2xi8>
  func.return
}

// -----

func.func @power_ui8() {
  %lhs = stablehlo.constant dense<[3, 2]> : tensor<2xui8>
  %rhs = stablehlo.constant dense<[6, 9]> : tensor<2xui8>
  %result = stablehlo.power %lhs, %rhs : tensor<2xui8>
  check.expect_eq_const %result, dense<[217, 0]> : tensor<2xui8>
  func.return
}

// -----

func.func @power_f64() {
  %lhs = stablehlo.constant dense<[-2.0, 4.0, -1.0, 0.0, 2.0]> : tensor<5xf64>
  %rhs = stablehlo.constant dense<[3.0, 0.5, 0.5, 0.0, -1.0]> : tensor<5xf64>
  %result = stablehlo.power %lhs, %rhs : tensor<5xf64>
  check.expect_almost_eq_const %result, dense<[-8.000000e+00, 2.000000e+00, 0xFFF8000000000000, 1.000000e+00, 5.000000e-01]> : tensor<5xf64>
  func.return
}

// -----

func.func @power_c_f64() {
  %lhs = stablehlo.constant dense<[(1.0, 1.0)]> : tensor<1xcomplex<f64>>
  %rhs = stablehlo.constant dense<[(2.0, 0.0)]> : tensor<1xcomplex<f64>>
  %result = stablehlo.power %lhs, %rhs : tensor<1xcomplex<f64>>
  check.expect_almost_eq_const %result, dense<(0.000000e+00,2.000000e+00)> : tensor<1xcomplex<f64>>
  func.return
}
