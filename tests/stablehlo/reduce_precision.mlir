// RUN: stablehlo-translate --interpret -split-input-file %s

func.func @reduce_precision_f32() {
  %operand = stablehlo.constant dense<[0x7F800000, 0.0, 1.0009765, 65520.0, 1.0e-8, 0x7FC00000, -3.14159]> : tensor<7xf32>
  %result = stablehlo.reduce_precision %operand, format = e5m10 : tensor<7xf32>
  check.expect_almost_eq_const %result, dense<[0x7F800000, 0.000000e+00, 1.00097656, 0x7F800000, 0.000000e+00, 0x7FC00000, -3.140625]> : tensor<7xf32>
  func.return
}

// -----

func.func @reduce_precision_no_mantissa() {
  %operand = stablehlo.constant dense<[1.5, 2.5, -6.0, 0x7FC00000, 0.4]> : tensor<5xf32>
  %result = stablehlo.reduce_precision %operand, format = e3m0 : tensor<5xf32>
  check.expect_almost_eq_const %result, dense<[2.000000e+00, 2.000000e+00, -8.000000e+00, 0x7F800000, 5.000000e-01]> : tensor<5xf32>
  func.return
}

// -----

func.func @reduce_precision_underflow() {
  %operand = stablehlo.constant dense<[6.1035156E-5, 3.0517578E-5, -3.0517578E-5, 6.5504E+4, 6.5535E+4]> : tensor<5xf32>
  %result = stablehlo.reduce_precision %operand, format = e5m10 : tensor<5xf32>
  check.expect_eq_const %result, dense<[6.10351563E-5, 0.000000e+00, -0.000000e+00, 6.550400e+04, 0x7F800000]> : tensor<5xf32>
  func.return
}

// -----

func.func @reduce_precision_keeps_zero() {
  %operand = stablehlo.constant dense<[-0.0, 0.0]> : tensor<2xf32>
  %result = stablehlo.reduce_precision %operand, format = e5m10 : tensor<2xf32>
  check.expect_eq_const %result, dense<[-0.000000e+00, 0.000000e+00]> : tensor<2xf32>
  func.return
}
