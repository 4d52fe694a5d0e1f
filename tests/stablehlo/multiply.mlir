// RUN: stablehlo-translate --interpret -split-input-file %s

func.func @multiply_i1() {
  %lhs = stablehlo.constant dense<[false, false, true, true]> : tensor<4xi1>
  %rhs = stablehlo.constant dense<[false, true, false, true]> : tensor<4xi1>
  %result = stablehlo.multiply %lhs, %rhs : tensor<4xi1>
  check.expect_eq_const %result, dense<[false, false, false, true]> : tensor<4xi1>
  func.return
}

// -----

func.func @multiply_i8() {
  %lhs = stablehlo.constant dense<[16, -128, 3]> : tensor<3xi8>
  %rhs = stablehlo.constant dense<[16, -1, -5]> : tensor<3xi8>
  %result = stablehlo.multiply %lhs, %rhs : tensor<3xi8>
  check.expect_eq_const %result, dense<[0, -128, -15]> : tensor<3xi8>
  func.return
}

// -----

func.func @multiply_f64() {
  %lhs = stablehlo.constant dense<[1.5, -2.0]> : tensor<2xf64>
  %rhs = stablehlo.constant dense<[4.0, 0.5]> : tensor<2xf64>
  %result = stablehlo.multiply %lhs, %rhs : tensor<2xf64>
  check.expect_almost_eq_const %result, dense<[6.000000e+00, -1.000000e+00]> : tensor<2xf64>
  func.return
}

// -----

func.func @multiply_bf16() {
  %lhs = stablehlo.constant dense<[1.0078125]> : tensor<1xbf16>
  %rhs = stablehlo.constant dense<[1.0078125]> : tensor<1xbf16>
  %result = stablehlo.multiply %lhs, %rhs : tensor<1xbf16>
  check.expect_almost_eq_const %result, dense<1.015630e+00> : tensor<1xbf16>
  func.return
}

// -----

func.func @multiply_c_f64() {
  %lhs = stablehlo.constant dense<[(1.0, 2.0), (0.0, 1.0)]> : tensor<2xcomplex<f64>>
  %rhs = stablehlo.constant dense<[(3.0, -4.0), (0.0, 1.0)]> : tensor<2xcomplex<f64>>
  %result = stablehlo.multiply %lhs, %rhs : tensor<2xcomplex<f64>>
  check.expect_almost_eq_const %result, dense<[(1.100000e+01,2.000000e+00), (-1.000000e+00,0.000000e+00)]> : tensor<2xcomplex<f64>>
  func.return
}

// -----

func.func @multiply_bf16_specials() {
  %lhs = stablehlo.constant dense<[0x7F80, 0x7F80, -0.0, 0.0]> : tensor<4xbf16>
  %rhs = stablehlo.constant dense<[2.0, 0.0, 1.0, 1.0]> : tensor<4xbf16>
  %result = stablehlo.multiply %lhs, %rhs : tensor<4xbf16>
  check.expect_almost_eq_const %result, dense<[0x7F80, 0xFFC0, -0.000000e+00, 0.000000e+00]> : tensor<4xbf16>
  func.return
}
