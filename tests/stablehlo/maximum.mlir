// RUN: stablehlo-translate --interpret -split-input-file %s

func.func @maximum_i1() {
  %lhs = stablehlo.constant dense<[false, false, true, true]> : tensor<4xi1>
  %rhs = stablehlo.constant dense<[false, true, false, true]> : tensor<4xi1>
  %result = stablehlo.maximum %lhs, %rhs : tensor<4xi1>
  check.expect_eq_const %result, dense<[false, true, true, true]> : tensor<4xi1>
  func.return
}

// -----

func.func @maximum_i64() {
  %lhs = stablehlo.constant dense<[-5, 3, 0]> : tensor<3xi64>
  %rhs = stablehlo.constant dense<[-7, 4, 0]> : tensor<3xi64>
  %result = stablehlo.maximum %lhs, %rhs : tensor<3xi64>
  check.expect_eq_const %result, dense<[-5, 4, 0]> : tensor<3xi64>
  func.return
}

// -----

func.func @maximum_f32() {
  %lhs = stablehlo.constant dense<[-0.0, 0x7FC00000, 1.0, 0xFF800000, 2.0]> : tensor<5xf32>
  %rhs = stablehlo.constant dense<[0.0, 1.0, 0x7FC00000, -3.0, 5.0]> : tensor<5xf32>
  %result = stablehlo.maximum %lhs, %rhs : tensor<5xf32>
  check.expect_almost_eq_const %result, dense<[0.000000e+00, 0x7FC00000, 0x7FC00000, -3.000000e+00, 5.000000e+00]> : tensor<5xf32>
  func.return
}

// -----

func.func @maximum_c_f64() {
  %lhs = stablehlo.constant dense<[(1.0, 5.0), (2.0, 0.0), (1.0, 1.0)]> : tensor<3xcomplex<f64>>
  %rhs = stablehlo.constant dense<[(1.0, 3.0), (1.0, 9.0), (3.0, 0.0)]> : tensor<3xcomplex<f64>>
  %result = stablehlo.maximum %lhs, %rhs : tensor<3xcomplex<f64>>
  check.expect_almost_eq_const %result, dense<[(1.000000e+00,5.000000e+00), (2.000000e+00,0.000000e+00), (3.000000e+00,0.000000e+00)]> : tensor<3xcomplex<f64>>
  func.return
}

// -----

func.func @maximum_f32_zeros() {
  %lhs = stablehlo.constant dense<[-0.0, 0.0]> : tensor<2xf32>
  %rhs = stablehlo.constant dense<[0.0, -0.0]> : tensor<2xf32>
  %result = stablehlo.maximum %lhs, %rhs : tensor<2xf32>
  check.expect_eq_const %result, dense<0.000000e+00> : tensor<2xf32>
  func.return
}
