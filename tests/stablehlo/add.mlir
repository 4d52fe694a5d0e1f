// RUN: stablehlo-translate --interpret -split-input-file %s

func.func @add_i1() {
  %lhs = stablehlo.constant dense<[false, false, true, true]> : tensor<4xi1>
  %rhs = stablehlo.constant dense<[false, true, false, true]> : tensor<4xi1>
  %result = stablehlo.add %lhs, %rhs : tensor<4xi1>
  check.expect_eq_const %result, dense<[false, true, true, true]> : tensor<4xi1>
  func.return
}

// -----

func.func @add_i64() {
  %lhs = stablehlo.constant dense<[9223372036854775807, -1, 5, -9223372036854775808]> : tensor<4xi64>
  %rhs = stablehlo.constant dense<[1, 1, -7, -1]> : tensor<4xi64>
  %result = stablehlo.add %lhs, %rhs : tensor<4xi64>
  check.expect_eq_const %result, dense<[-9223372036854775808, 0, -2, 9223372036854775807]> : tensor<4xi64>
  func.return
}

// -----

func.func @add_ui4() {
  %lhs = stablehlo.constant dense<[15, 7]> : tensor<2xui4>
  %rhs = stablehlo.constant dense<[1, 5]> : tensor<2xui4>
  %result = stablehlo.add %lhs, %rhs : tensor<2xui4>
  check.expect_eq_const %result, dense<[0, 12]> : tensor<2xui4>
  func.return
}

// -----

func.func @add_i2() {
  %lhs = stablehlo.constant dense<[1, -2]> : tensor<2xi2>
  %rhs = stablehlo.constant dense<[1, -1]> : tensor<2xi2>
  %result = stablehlo.add %lhs, %rhs : tensor<2xi2>
  check.expect_eq_const %result, dense<[-2, 1]> : tensor<2xi2>
  func.return
}

// -----

func.func @add_f32() {
  %lhs = stablehlo.constant dense<[1.5, -0.0, 0x7F800000]> : tensor<3xf32>
  %rhs = stablehlo.constant dense<[2.25, 0.0, 0xFF800000]> : tensor<3xf32>
  %result = stablehlo.add %lhs, %rhs : tensor<3xf32>
  check.expect_almost_eq_const %result, dense<[3.750000e+00, 0.000000e+00, 0xFFC00000]> : tensor<3xf32>
  func.return
}

// -----

func.func @add_bf16() {
  %lhs = stablehlo.constant dense<[1.0, 256.0]> : tensor<2xbf16>
  %rhs = stablehlo.constant dense<[0.00390625, 1.0]> : tensor<2xbf16>
  %result = stablehlo.add %lhs, %rhs : tensor<2xbf16>
  check.expect_almost_eq_const %result, dense<[1.000000e+00, 2.560000e+02]> : tensor<2xbf16>
  func.return
}

// -----

func.func @add_f8E4M3FN() {
  %lhs = stablehlo.constant dense<[1.0, 448.0]> : tensor<2xf8E4M3FN>
  %rhs = stablehlo.constant dense<[0.0625, 448.0]> : tensor<2xf8E4M3FN>
  %result = stablehlo.add %lhs, %rhs : tensor<2xf8E4M3FN>
  check.expect_almost_eq_const %result, dense<[1.000000e+00, 0x7F]> : tensor<2xf8E4M3FN>
  func.return
}

// -----

func.func @add_f16() {
  %lhs = stablehlo.constant dense<[2048.0]> : tensor<1xf16>
  %rhs = stablehlo.constant dense<[1.0]> : tensor<1xf16>
  %result = stablehlo.add %lhs, %rhs : tensor<1xf16>
  check.expect_almost_eq_const %result, dense<2.048000e+03> : tensor<1xf16>
  func.return
}

// -----

func.func @add_c_f64() {
  %lhs = stablehlo.constant dense<[(1.0, -2.0), (0.5, 0.25)]> : tensor<2xcomplex<f64>>
  %rhs = stablehlo.constant dense<[(2.0, 5.0), (-0.5, 4.0)]> : tensor<2xcomplex<f64>>
  %result = stablehlo.add %lhs, %rhs : tensor<2xcomplex<f64>>
  check.expect_almost_eq_const %result, dense<[(3.000000e+00,3.000000e+00), (0.000000e+00,4.250000e+00)]> : tensor<2xcomplex<f64>>
  func.return
}
