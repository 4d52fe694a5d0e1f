// RUN: stablehlo-translate --interpret -split-input-file %s

func.func @constant_i1() {
  %result = stablehlo.constant dense<[true, false]> : tensor<2xi1>
  check.expect_eq_const %result, dense<[true, false]> : tensor<2xi1>
  func.return
}

// -----

func.func @constant_i2() {
  %result = stablehlo.constant dense<[1, -2]> : tensor<2xi2>
  check.expect_eq_const %result, dense<[1, -2]> : tensor<2xi2>
  func.return
}

// -----

func.func @constant_i4() {
  %result = stablehlo.constant dense<[7, -8]> : tensor<2xi4>
  check.expect_eq_const %result, dense<[7, -8]> : tensor<2xi4>
  func.return
}

// -----

func.func @constant_i8() {
  %result = stablehlo.constant dense<[127, -128]> : tensor<2xi8>
  check.expect_eq_const %result, dense<[127, -128]> : tensor<2xi8>
  func.return
}

// -----

func.func @constant_i16() {
  %result = stablehlo.constant dense<[32767, -32768]> : tensor<2xi16>
  check.expect_eq_const %result, dense<[32767, -32768]> : tensor<2xi16>
  func.return
}

// -----

func.func @constant_i32() {
  %result = stablehlo.constant dense<[2147483647, -2147483648]> : tensor<2xi32>
  check.expect_eq_const %result, dense<[2147483647, -2147483648]> : tensor<2xi32>
  func.return
}

// -----

func.func @constant_i64() {
  %result = stablehlo.constant dense<[9223372036854775807, -9223372036854775808]> : tensor<2xi64>
  check.expect_eq_const %result, dense<[9223372036854775807, -9223372036854775808]> : tensor<2xi64>
  func.return
}

// -----

func.func @constant_ui2() {
  %result = stablehlo.constant dense<[0, 3]> : tensor<2xui2>
  check.expect_eq_const %result, dense<[0, 3]> : tensor<2xui2>
  func.return
}

// -----

func.func @constant_ui4() {
  %result = stablehlo.constant dense<[0, 15]> : tensor<2xui4>
  check.expect_eq_const %result, dense<[0, 15]> : tensor<2xui4>
  func.return
}

// -----

func.func @constant_ui8() {
  %result = stablehlo.constant dense<[0, 255]> : tensor<2xui8>
  check.expect_eq_const %result, dense<[0, 255]> : tensor<2xui8>
  func.return
}

// -----

func.func @constant_ui16() {
  %result = stablehlo.constant dense<[0, 65535]> : tensor<2xui16>
  check.expect_eq_const %result, dense<[0, 65535]> : tensor<2xui16>
  func.return
}

// -----

func.func @constant_ui32() {
  %result = stablehlo.constant dense<[0, 4294967295]> : tensor<2xui32>
  check.expect_eq_const %result, dense<[0, 4294967295]> : tensor<2xui32>
  func.return
}

// -----

func.func @constant_ui64() {
  %result = stablehlo.constant dense<[0, 18446744073709551615]> : tensor<2xui64>
  check.expect_eq_const %result, dense<[0, 18446744073709551615]> : tensor<2xui64>
  func.return
}

// -----

func.func @constant_f4e2m1fn() {
  %result = stablehlo.constant dense<[0.5, -6.0]> : tensor<2xf4E2M1FN>
  check.expect_eq_const %result, dense<[5.000000e-01, -6.000000e+00]> : tensor<2xf4E2M1FN>
  func.return
}

// -----

func.func @constant_f6e2m3fn() {
  %result = stablehlo.constant dense<[0.125, -7.5]> : tensor<2xf6E2M3FN>
  check.expect_eq_const %result, dense<[1.250000e-01, -7.500000e+00]> : tensor<2xf6E2M3FN>
  func.return
}

// -----

func.func @constant_f6e3m2fn() {
  %result = stablehlo.constant dense<[0.0625, -28.0]> : tensor<2xf6E3M2FN>
  check.expect_eq_const %result, dense<[6.250000e-02, -2.800000e+01]> : tensor<2xf6E3M2FN>
  func.return
}

// -----

func.func @constant_f8e3m4() {
  %result = stablehlo.constant dense<[0.015625, -15.5]> : tensor<2xf8E3M4>
  check.expect_eq_const %result, dense<[1.562500e-02, -1.550000e+01]> : tensor<2xf8E3M4>
  func.return
}

// -----

func.func @constant_f8e4m3() {
  %result = stablehlo.constant dense<[0.001953125, -240.0]> : tensor<2xf8E4M3>
  check.expect_eq_const %result, dense<[1.953130e-03, -2.400000e+02]> : tensor<2xf8E4M3>
  func.return
}

// -----

func.func @constant_f8e4m3b11fnuz() {
  %result = stablehlo.constant dense<[0.5, -30.0]> : tensor<2xf8E4M3B11FNUZ>
  check.expect_eq_const %result, dense<[5.000000e-01, -3.000000e+01]> : tensor<2xf8E4M3B11FNUZ>
  func.return
}

// -----

func.func @constant_f8e4m3fn() {
  %result = stablehlo.constant dense<[0.001953125, -448.0]> : tensor<2xf8E4M3FN>
  check.expect_eq_const %result, dense<[1.953130e-03, -4.480000e+02]> : tensor<2xf8E4M3FN>
  func.return
}

// -----

func.func @constant_f8e4m3fnuz() {
  %result = stablehlo.constant dense<[0.5, -240.0]> : tensor<2xf8E4M3FNUZ>
  check.expect_eq_const %result, dense<[5.000000e-01, -2.400000e+02]> : tensor<2xf8E4M3FNUZ>
  func.return
}

// -----

func.func @constant_f8e5m2() {
  %result = stablehlo.constant dense<[1.52587891E-5, -57344.0]> : tensor<2xf8E5M2>
  check.expect_eq_const %result, dense<[1.525880e-05, -5.734400e+04]> : tensor<2xf8E5M2>
  func.return
}

// -----

func.func @constant_f8e5m2fnuz() {
  %result = stablehlo.constant dense<[0.5, -57344.0]> : tensor<2xf8E5M2FNUZ>
  check.expect_eq_const %result, dense<[5.000000e-01, -5.734400e+04]> : tensor<2xf8E5M2FNUZ>
  func.return
}

// -----

func.func @constant_f8e8m0fnu() {
  %result = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf8E8M0FNU>
  check.expect_eq_const %result, dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf8E8M0FNU>
  func.return
}

// -----

func.func @constant_bf16() {
  %result = stablehlo.constant dense<[0x7FC0, 3.140625]> : tensor<2xbf16>
  check.expect_eq_const %result, dense<[0x7FC0, 3.140630e+00]> : tensor<2xbf16>
  func.return
}

// -----

func.func @constant_f16() {
  %result = stablehlo.constant dense<[0x7C00, 6.55e+04]> : tensor<2xf16>
  check.expect_eq_const %result, dense<[0x7C00, 6.550400e+04]> : tensor<2xf16>
  func.return
}

// -----

func.func @constant_f32() {
  %result = stablehlo.constant dense<[0x7F800001, 3.40282347E+38]> : tensor<2xf32>
  check.expect_eq_const %result, dense<[0x7F800001, 3.40282347E+38]> : tensor<2xf32>
  func.return
}

// -----

func.func @constant_f64() {
  %result = stablehlo.constant dense<[0x7FF0000000000001, 4.940660e-324]> : tensor<2xf64>
  check.expect_eq_const %result, dense<[0x7FF0000000000001, 4.940660e-324]> : tensor<2xf64>
  func.return
}

// -----

func.func @constant_c_f32() {
  %result = stablehlo.constant dense<[(1.0, -0.0), (0x7FC00001, 2.0)]> : tensor<2xcomplex<f32>>
  check.expect_eq_const %result, dense<[(1.000000e+00,-0.000000e+00), (0x7FC00001,2.000000e+00)]> : tensor<2xcomplex<f32>>
  func.return
}

// -----

func.func @constant_c_f64() {
  %result = stablehlo.constant dense<[(1.0, -0.0), (0x7FF8000000000001, 2.0)]> : tensor<2xcomplex<f64>>
  check.expect_eq_const %result, dense<[(1.000000e+00,-0.000000e+00), (0x7FF8000000000001,2.000000e+00)]> : tensor<2xcomplex<f64>>
  func.return
}

// -----

func.func @constant_splat() {
  %result = stablehlo.constant dense<1.5> : tensor<2x2xf32>
  check.expect_eq_const %result, dense<1.500000e+00> : tensor<2x2xf32>
  func.return
}
