// RUN: stablehlo-translate --interpret -split-input-file %s

func.func @compare_eq_i64() {
  %lhs = stablehlo.constant dense<[-2, 0, 2]> : tensor<3xi64>
  %rhs = stablehlo.constant dense<[0, 0, 0]> : tensor<3xi64>
  %result = stablehlo.compare EQ, %lhs, %rhs, SIGNED : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi1>
  check.expect_eq_const %result, dense<[false, true, false]> : tensor<3xi1>
  func.return
}

// -----

func.func @compare_eq_f32() {
  %lhs = stablehlo.constant dense<[0x7FC00000, -0.0, 1.0]> : tensor<3xf32>
  %rhs = stablehlo.constant dense<[0x7FC00000, 0.0, 2.0]> : tensor<3xf32>
  %result = stablehlo.compare EQ, %lhs, %rhs, FLOAT : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
  check.expect_eq_const %result, dense<[false, true, false]> : tensor<3xi1>
  func.return
}

// -----

func.func @compare_ne_i64() {
  %lhs = stablehlo.constant dense<[-2, 0, 2]> : tensor<3xi64>
  %rhs = stablehlo.constant dense<[0, 0, 0]> : tensor<3xi64>
  %result = stablehlo.compare NE, %lhs, %rhs, SIGNED : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi1>
  check.expect_eq_const %result, dense<[true, false, true]> : tensor<3xi1>
  func.return
}

// -----

func.func @compare_ne_f32() {
  %lhs = stablehlo.constant dense<[0x7FC00000, -0.0, 1.0]> : tensor<3xf32>
  %rhs = stablehlo.constant dense<[0x7FC00000, 0.0, 2.0]> : tensor<3xf32>
  %result = stablehlo.compare NE, %lhs, %rhs, FLOAT : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
  check.expect_eq_const %result, dense<[true, false, true]> : tensor<3xi1>
  func.return
}

// -----

func.func @compare_lt_i64() {
  %lhs = stablehlo.constant dense<[-2, 0, 2]> : tensor<3xi64>
  %rhs = stablehlo.constant dense<[0, 0, 0]> : tensor<3xi64>
  %result = stablehlo.compare LT, %lhs, %rhs, SIGNED : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi1>
  check.expect_eq_const %result, dense<[true, false, false]> : tensor<3xi1>
  func.return
}

// -----

func.func @compare_lt_f32() {
  %lhs = stablehlo.constant dense<[0x7FC00000, -0.0, 1.0]> : tensor<3xf32>
  %rhs = stablehlo.constant dense<[0x7FC00000, 0.0, 2.0]> : tensor<3xf32>
  %result = stablehlo.compare LT, %lhs, %rhs, FLOAT : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
  check.expect_eq_const %result, dense<[false, false, true]> : tensor<3xi1>
  func.return
}

// -----

func.func @compare_le_i64() {
  %lhs = stablehlo.constant dense<[-2, 0, 2]> : tensor<3xi64>
  %rhs = stablehlo.constant dense<[0, 0, 0]> : tensor<3xi64>
  %result = stablehlo.compare LE, %lhs, %rhs, SIGNED : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi1>
  check.expect_eq_const %result, dense<[true, true, false]> : tensor<3xi1>
  func.return
}

// -----

func.func @compare_le_f32() {
  %lhs = stablehlo.constant dense<[0x7FC00000, -0.0, 1.0]> : tensor<3xf32>
  %rhs = stablehlo.constant dense<[0x7FC00000, 0.0, 2.0]> : tensor<3xf32>
  %result = stablehlo.compare LE, %lhs, %rhs, FLOAT : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
  check.expect_eq_const %result, dense<[false, true, true]> : tensor<3xi1>
  func.return
}

// -----

func.func @compare_gt_i64() {
  %lhs = stablehlo.constant dense<[-2, 0, 2]> : tensor<3xi64>
  %rhs = stablehlo.constant dense<[0, 0, 0]> : tensor<3xi64>
  %result = stablehlo.compare GT, %lhs, %rhs, SIGNED : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi1>
  check.expect_eq_const %result, dense<[false, false, true]> : tensor<3xi1>
  func.return
}

// -----

func.func @compare_gt_f32() {
  %lhs = stablehlo.constant dense<[0x7FC00000, -0.0, 1.0]> : tensor<3xf32>
  %rhs = stablehlo.constant dense<[0x7FC00000, 0.0, 2.0]> : tensor<3xf32>
  %result = stablehlo.compare GT, %lhs, %rhs, FLOAT : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
  check.expect_eq_const %result, dense<false> : tensor<3xi1>
  func.return
}

// -----

func.func @compare_ge_i64() {
  %lhs = stablehlo.constant dense<[-2, 0, 2]> : tensor<3xi64>
  %rhs = stablehlo.constant dense<[0, 0, 0]> : tensor<3xi64>
  %result = stablehlo.compare GE, %lhs, %rhs, SIGNED : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi1>
  check.expect_eq_const %result, dense<[false, true, true]> : tensor<3xi1>
  func.return
}

// -----

func.func @compare_ge_f32() {
  %lhs = stablehlo.constant dense<[0x7FC00000, -0.0, 1.0]> : tensor<3xf32>
  %rhs = stablehlo.constant dense<[0x7FC00000, 0.0, 2.0]> : tensor<3xf32>
  %result = stablehlo.compare GE, %lhs, %rhs, FLOAT : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
  check.expect_eq_const %result, dense<[false, true, false]> : tensor<3xi1>
  func.return
}

// -----

func.func @compare_i1() {
  %lhs = stablehlo.constant dense<[false, false, true, true]> : tensor<4xi1>
  %rhs = stablehlo.constant dense<[false, true, false, true]> : tensor<4xi1>
  %result = stablehlo.compare LT, %lhs, %rhs, UNSIGNED : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  check.expect_eq_const %result, dense<[false, true, false, false]> : tensor<4xi1>
  func.return
}

// -----

func.func @compare_c_f64() {
  %lhs = stablehlo.constant dense<[(1.0, 5.0), (1.0, 2.0), (0.0, 9.0)]> : tensor<3xcomplex<f64>>
  %rhs = stablehlo.constant dense<[(1.0, 2.0), (1.0, 2.0), (1.0, 0.0)]> : tensor<3xcomplex<f64>>
  %result = stablehlo.compare EQ, %lhs, %rhs, FLOAT : (tensor<3xcomplex<f64>>, tensor<3xcomplex<f64>>) -> tensor<3xi1>
  check.expect_eq_const %result, dense<[false, true, false]> : tensor<3xi1>
  func.return
}

// -----

func.func @compare_totalorder() {
  %lhs = stablehlo.constant dense<[0xFFC00000, -0.0, 0.0, 0x7FC00000, 0x7F800000]> : tensor<5xf32>
  %rhs = stablehlo.constant dense<[0xFF800000, 0.0, -0.0, 0x7F800000, 0x7FC00000]> : tensor<5xf32>
  %result = stablehlo.compare LT, %lhs, %rhs, TOTALORDER : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xi1>
  check.expect_eq_const %result, dense<[true, true, false, false, true]> : tensor<5xi1>
  func.return
}

// -----

func.func @compare_totalorder_equal() {
  %lhs = stablehlo.constant dense<[0x7FC00000, -0.0]> : tensor<2xf32>
  %rhs = stablehlo.constant dense<[0x7FC00000, 0.0]> : tensor<2xf32>
  %result = stablehlo.compare GE, %lhs, %rhs, TOTALORDER : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  check.expect_eq_const %result, dense<[true, false]> : tensor<2xi1>
  func.return
}

// -----

func.func @compare_totalorder_less() {
  %lhs = stablehlo.constant dense<[1.0, 0.0]> : tensor<2xf32>
  %rhs = stablehlo.constant dense<[1.0, 0.5]> : tensor<2xf32>
  %result = stablehlo.compare LT, %lhs, %rhs, TOTALORDER : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  check.expect_eq_const %result, dense<[false, true]> : tensor<2xi1>
  func.return
}
