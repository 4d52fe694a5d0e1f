// RUN: stablehlo-translate --interpret -split-input-file %s

func.func @convert_i1_to_i1() {
  %operand = stablehlo.constant dense<[true, false]> : tensor<2xi1>
  %result = stablehlo.convert %operand : (tensor<2xi1>) -> tensor<2xi1>
  check.expect_eq_const %result, dense<[true, false]> : tensor<2xi1>
  func.return
}

// -----

func.func @convert_i1_to_i8() {
  %operand = stablehlo.constant dense<[true, false]> : tensor<2xi1>
  %result = stablehlo.convert %operand : (tensor<2xi1>) -> tensor<2xi8>
  check.expect_eq_const %result, dense<[1, 0]> : tensor<2xi8>
  func.return
}

// -----

func.func @convert_i1_to_ui8() {
  %operand = stablehlo.constant dense<[true, false]> : tensor<2xi1>
  %result = stablehlo.convert %operand : (tensor<2xi1>) -> tensor<2xui8>
  check.expect_eq_const %result, dense<[1, 0]> : tensor<2xui8>
  func.return
}

// -----

func.func @convert_i1_to_f32() {
  %operand = stablehlo.constant dense<[true, false]> : tensor<2xi1>
  %result = stablehlo.convert %operand : (tensor<2xi1>) -> tensor<2xf32>
  check.expect_almost_eq_const %result, dense<[1.000000e+00, 0.000000e+00]> : tensor<2xf32>
  func.return
}

// -----

func.func @convert_i1_to_c_f32() {
  %operand = stablehlo.constant dense<[true, false]> : tensor<2xi1>
  %result = stablehlo.convert %operand : (tensor<2xi1>) -> tensor<2xcomplex<f32>>
  check.expect_almost_eq_const %result, dense<[(1.000000e+00,0.000000e+00), (0.000000e+00,0.000000e+00)]> : tensor<2xcomplex<f32>>
  func.return
}

// -----

func.func @convert_i64_to_i1() {
  %operand = stablehlo.constant dense<[-2, 0, 300]> : tensor<3xi64>
  %result = stablehlo.convert %operand : (tensor<3xi64>) -> tensor<3xi1>
  check.expect_eq_const %result, dense<[true, false, true]> : tensor<3xi1>
  func.return
}

// -----

func.func @convert_i64_to_i8() {
  %operand = stablehlo.constant dense<[-2, 0, 300]> : tensor<3xi64>
  %result = stablehlo.convert %operand : (tensor<3xi64>) -> tensor<3xi8>
  check.expect_eq_const %result, dense<[-2, 0, 44]> : tensor<3xi8>
  func.return
}

// -----

func.func @convert_i64_to_ui8() {
  %operand = stablehlo.constant dense<[-2, 0, 300]> : tensor<3xi64>
  %result = stablehlo.convert %operand : (tensor<3xi64>) -> tensor<3xui8>
  check.expect_eq_const %result, dense<[254, 0, 44]> : tensor<3xui8>
  func.return
}

// -----

func.func @convert_i64_to_f32() {
  %operand = stablehlo.constant dense<[-2, 0, 300]> : tensor<3xi64>
  %result = stablehlo.convert %operand : (tensor<3xi64>) -> tensor<3xf32>
  check.expect_almost_eq_const %result, dense<[-2.000000e+00, 0.000000e+00, 3.000000e+02]> : tensor<3xf32>
  func.return
}

// -----

func.func @convert_i64_to_c_f32() {
  %operand = stablehlo.constant dense<[-2, 0, 300]> : tensor<3xi64>
  %result = stablehlo.convert %operand : (tensor<3xi64>) -> tensor<3xcomplex<f32>>
  check.expect_almost_eq_const %result, dense<[(-2.000000e+00,0.000000e+00), (0.000000e+00,0.000000e+00), (3.000000e+02,0.000000e+00)]> : tensor<3xcomplex<f32>>
  func.return
}

// -----

func.func @convert_ui64_to_i1() {
  %operand = stablehlo.constant dense<[0, 18446744073709551615]> : tensor<2xui64>
  %result = stablehlo.convert %operand : (tensor<2xui64>) -> tensor<2xi1>
  check.expect_eq_const %result, dense<[false, true]> : tensor<2xi1>
  func.return
}

// -----

func.func @convert_ui64_to_i8() {
  %operand = stablehlo.constant dense<[0, 18446744073709551615]> : tensor<2xui64>
  %result = stablehlo.convert %operand : (tensor<2xui64>) -> tensor<2xi8>
  check.expect_eq_const %result, dense<[0, -1]> : tensor<2xi8>
  func.return
}

// -----

func.func @convert_ui64_to_ui8() {
  %operand = stablehlo.constant dense<[0, 18446744073709551615]> : tensor<2xui64>
  %result = stablehlo.convert %operand : (tensor<2xui64>) -> tensor<2xui8>
  check.expect_eq_const %result, dense<[0, 255]> : tensor<2xui8>
  func.return
}

// -----

func.func @convert_ui64_to_f32() {
  %operand = stablehlo.constant dense<[0, 18446744073709551615]> : tensor<2xui64>
  %result = stablehlo.convert %operand : (tensor<2xui64>) -> tensor<2xf32>
  check.expect_almost_eq_const %result, dense<[0.000000e+00, 1.84467441E+19]> : tensor<2xf32>
  func.return
}

// -----

func.func @convert_ui64_to_c_f32() {
  %operand = stablehlo.constant dense<[0, 18446744073709551615]> : tensor<2xui64>
  %result = stablehlo.convert %operand : (tensor<2xui64>) -> tensor<2xcomplex<f32>>
  check.expect_almost_eq_const %result, dense<[(0.000000e+00,0.000000e+00), (1.84467441E+19,0.000000e+00)]> : tensor<2xcomplex<f32>>
  func.return
}

// -----

func.func @convert_f64_to_i1() {
  %operand = stablehlo.constant dense<[-2.75, 0.0, 1.5]> : tensor<3xf64>
  %result = stablehlo.convert %operand : (tensor<3xf64>) -> tensor<3xi1>
  check.expect_eq_const %result, dense<[true, false, true]> : tensor<3xi1>
  func.return
}

// -----

func.func @convert_f64_to_i8() {
  %operand = stablehlo.constant dense<[-2.75, 0.0, 1.5]> : tensor<3xf64>
  %result = stablehlo.convert %operand : (tensor<3xf64>) -> tensor<3xi8>
  check.expect_eq_const %result, dense<[-2, 0, 1]> : tensor<3xi8>
  func.return
}

// -----

func.func @convert_f64_to_i16() {
  %operand = stablehlo.constant dense<[-2.75, 0.0, 1.5]> : tensor<3xf64>
  %result = stablehlo.convert %operand : (tensor<3xf64>) -> tensor<3xi16>
  check.expect_eq_const %result, dense<[-2, 0, 1]> : tensor<3xi16>
  func.return
}

// -----

func.func @convert_f64_to_f32() {
  %operand = stablehlo.constant dense<[-2.75, 0.0, 1.5]> : tensor<3xf64>
  %result = stablehlo.convert %operand : (tensor<3xf64>) -> tensor<3xf32>
  check.expect_almost_eq_const %result, dense<[-2.750000e+00, 0.000000e+00, 1.500000e+00]> : tensor<3xf32>
  func.return
}

// -----

func.func @convert_f64_to_c_f32() {
  %operand = stablehlo.constant dense<[-2.75, 0.0, 1.5]> : tensor<3xf64>
  %result = stablehlo.convert %operand : (tensor<3xf64>) -> tensor<3xcomplex<f32>>
  check.expect_almost_eq_const %result, dense<[(-2.750000e+00,0.000000e+00), (0.000000e+00,0.000000e+00), (1.500000e+00,0.000000e+00)]> : tensor<3xcomplex<f32>>
  func.return
}

// -----

func.func @convert_c_f64_to_i1() {
  %operand = stablehlo.constant dense<[(1.5, 2.0), (0.0, 1.0)]> : tensor<2xcomplex<f64>>
  %result = stablehlo.convert %operand : (tensor<2xcomplex<f64>>) -> tensor<2xi1>
  check.expect_eq_const %result, dense<[true, false]> : tensor<2xi1>
  func.return
}

// -----

func.func @convert_c_f64_to_i8() {
  %operand = stablehlo.constant dense<[(1.5, 2.0), (0.0, 1.0)]> : tensor<2xcomplex<f64>>
  %result = stablehlo.convert %operand : (tensor<2xcomplex<f64>>) -> tensor<2xi8>
  check.expect_eq_const %result, dense<[1, 0]> : tensor<2xi8>
  func.return
}

// -----

func.func @convert_c_f64_to_ui8() {
  %operand = stablehlo.constant dense<[(1.5, 2.0), (0.0, 1.0)]> : tensor<2xcomplex<f64>>
  %result = stablehlo.convert %operand : (tensor<2xcomplex<f64>>) -> tensor<2xui8>
  check.expect_eq_const %result, dense<[1, 0]> : tensor<2xui8>
  func.return
}

// -----

func.func @convert_c_f64_to_f32() {
  %operand = stablehlo.constant dense<[(1.5, 2.0), (0.0, 1.0)]> : tensor<2xcomplex<f64>>
  %result = stablehlo.convert %operand : (tensor<2xcomplex<f64>>) -> tensor<2xf32>
  check.expect_almost_eq_const %result, dense<[1.500000e+00, 0.000000e+00]> : tensor<2xf32>
  func.return
}

// -----

func.func @convert_c_f64_to_c_f32() {
  %operand = stablehlo.constant dense<[(1.5, 2.0), (0.0, 1.0)]> : tensor<2xcomplex<f64>>
  %result = stablehlo.convert %operand : (tensor<2xcomplex<f64>>) -> tensor<2xcomplex<f32>>
  check.expect_almost_eq_const %result, dense<[(1.500000e+00,2.000000e+00), (0.000000e+00,1.000000e+00)]> : tensor<2xcomplex<f32>>
  func.return
}

// -----

func.func @convert_i64_to_f32() {
  %operand = stablehlo.constant dense<[16777217, 9007199254740993, -9007199254740993, 33554435]> : tensor<4xi64>
  %result = stablehlo.convert %operand : (tensor<4xi64>) -> tensor<4xf32>
  check.expect_eq_const %result, dense<[0x4B800000, 9.00719925E+15, -9.00719925E+15, 0x4C000001]> : tensor<4xf32>
  func.return
}

// -----

func.func @convert_f64_to_bf16() {
  %operand = stablehlo.constant dense<[1.00390625, 1.01171875, 3.0e38]> : tensor<3xf64>
  %result = stablehlo.convert %operand : (tensor<3xf64>) -> tensor<3xbf16>
  check.expect_eq_const %result, dense<[1.000000e+00, 1.015630e+00, 3.004060e+38]> : tensor<3xbf16>
  func.return
}

// -----

func.func @convert_f32_to_f4E2M1FN() {
  %operand = stablehlo.constant dense<[0.3, 6.0, 100.0, -0.5]> : tensor<4xf32>
  %result = stablehlo.convert %operand : (tensor<4xf32>) -> tensor<4xf4E2M1FN>
  check.expect_eq_const %result, dense<[5.000000e-01, 6.000000e+00, 6.000000e+00, -5.000000e-01]> : tensor<4xf4E2M1FN>
  func.return
}

// -----

func.func @convert_f32_to_f8E4M3FN() {
  %operand = stablehlo.constant dense<[0.3, 464.0, -1.0, 0.001953125]> : tensor<4xf32>
  %result = stablehlo.convert %operand : (tensor<4xf32>) -> tensor<4xf8E4M3FN>
  check.expect_eq_const %result, dense<[3.125000e-01, 4.480000e+02, -1.000000e+00, 1.953130e-03]> : tensor<4xf8E4M3FN>
  func.return
}

// -----

func.func @convert_f32_to_f8E8M0FNU() {
  %operand = stablehlo.constant dense<[3.0, 1.0, 0.25]> : tensor<3xf32>
  %result = stablehlo.convert %operand : (tensor<3xf32>) -> tensor<3xf8E8M0FNU>
  check.expect_eq_const %result, dense<[4.000000e+00, 1.000000e+00, 2.500000e-01]> : tensor<3xf8E8M0FNU>
  func.return
}

// -----

func.func @convert_f32_to_f6E2M3FN() {
  %operand = stablehlo.constant dense<[0.06, 7.5, 0.3]> : tensor<3xf32>
  %result = stablehlo.convert %operand : (tensor<3xf32>) -> tensor<3xf6E2M3FN>
  check.expect_eq_const %result, dense<[0.000000e+00, 7.500000e+00, 2.500000e-01]> : tensor<3xf6E2M3FN>
  func.return
}

// -----

func.func @convert_ui8_to_i4() {
  %operand = stablehlo.constant dense<[200, 5]> : tensor<2xui8>
  %result = stablehlo.convert %operand : (tensor<2xui8>) -> tensor<2xi4>
  check.expect_eq_const %result, dense<[-8, 5]> : tensor<2xi4>
  func.return
}

// -----

func.func @convert_f64_to_bf16() {
  %operand = stablehlo.constant dense<[1.0039062500009095, 1.0039062499990905, 1.00390625, 0x7FF0000000000000, 0xFFF0000000000000]> : tensor<5xf64>
  %result = stablehlo.convert %operand : (tensor<5xf64>) -> tensor<5xbf16>
  check.expect_eq_const %result, dense<[1.007810e+00, 1.000000e+00, 1.000000e+00, 0x7F80, 0xFF80]> : tensor<5xbf16>
  func.return
}

// -----

func.func @convert_i64_to_bf16() {
  %operand = stablehlo.constant dense<[16777215, 0, -1, 4503599627370497, 1152921573326323713]> : tensor<5xi64>
  %result = stablehlo.convert %operand : (tensor<5xi64>) -> tensor<5xbf16>
  check.expect_eq_const %result, dense<[1.677720e+07, 0.000000e+00, -1.000000e+00, 4.503600e+15, 1.152920e+18]> : tensor<5xbf16>
  func.return
}

// -----

func.func @convert_large_i64_to_complex() {
  %operand = stablehlo.constant dense<18014399583223809> : tensor<i64>
  %result = stablehlo.convert %operand : (tensor<i64>) -> tensor<complex<f32>>
  check.expect_eq_const %result, dense<(1.80144007E+16,0.0)> : tensor<complex<f32>>
  func.return
}
