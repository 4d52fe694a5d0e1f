// RUN: stablehlo-translate --interpret -split-input-file %s

func.func @triangular_solve_lower() {
  %a = stablehlo.constant dense<[[2.0, 9.0, 9.0], [1.0, 4.0, 9.0], [3.0, -2.0, 5.0]]> : tensor<3x3xf64>
  %b = stablehlo.constant dense<[[4.0, 1.0], [9.0, 5.0], [7.0, 3.0]]> : tensor<3x2xf64>
  %result = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<3x3xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
  check.expect_almost_eq_const %result, dense<[[2.000000e+00, 5.000000e-01], [1.750000e+00, 1.125000e+00], [9.000000e-01, 7.500000e-01]]> : tensor<3x2xf64>
  func.return
}

// -----

func.func @triangular_solve_upper() {
  %a = stablehlo.constant dense<[[1.0, 2.0, 3.0], [0.0, 2.0, 4.0], [0.0, 0.0, 4.0]]> : tensor<3x3xf64>
  %b = stablehlo.constant dense<[[4.0, 1.0], [9.0, 5.0], [7.0, 3.0]]> : tensor<3x2xf64>
  %result = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = false, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<3x3xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
  check.expect_almost_eq_const %result, dense<[[-3.250000e+00, -3.250000e+00], [1.000000e+00, 1.000000e+00], [1.750000e+00, 7.500000e-01]]> : tensor<3x2xf64>
  func.return
}

// -----

func.func @triangular_solve_transpose() {
  %a = stablehlo.constant dense<[[2.0, 9.0, 9.0], [1.0, 4.0, 9.0], [3.0, -2.0, 5.0]]> : tensor<3x3xf64>
  %b = stablehlo.constant dense<[[4.0, 1.0], [9.0, 5.0], [7.0, 3.0]]> : tensor<3x2xf64>
  %result = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose TRANSPOSE>}> : (tensor<3x3xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
  check.expect_almost_eq_const %result, dense<[[-1.5749999999999997, -1.1749999999999998], [2.950000e+00, 1.550000e+00], [1.400000e+00, 6.000000e-01]]> : tensor<3x2xf64>
  func.return
}

// -----

func.func @triangular_solve_right() {
  %a = stablehlo.constant dense<[[2.0, 9.0, 9.0], [1.0, 4.0, 9.0], [3.0, -2.0, 5.0]]> : tensor<3x3xf64>
  %b = stablehlo.constant dense<[[4.0, 9.0, 7.0], [1.0, 5.0, 3.0]]> : tensor<2x3xf64>
  %result = "stablehlo.triangular_solve"(%a, %b) <{left_side = false, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<3x3xf64>, tensor<2x3xf64>) -> tensor<2x3xf64>
  check.expect_almost_eq_const %result, dense<[[-1.5749999999999997, 2.950000e+00, 1.400000e+00], [-1.1749999999999998, 1.550000e+00, 6.000000e-01]]> : tensor<2x3xf64>
  func.return
}

// -----

func.func @triangular_solve_right_transpose() {
  %a = stablehlo.constant dense<[[1.0, 2.0, 3.0], [0.0, 2.0, 4.0], [0.0, 0.0, 4.0]]> : tensor<3x3xf64>
  %b = stablehlo.constant dense<[[4.0, 9.0, 7.0], [1.0, 5.0, 3.0]]> : tensor<2x3xf64>
  %result = "stablehlo.triangular_solve"(%a, %b) <{left_side = false, lower = false, unit_diagonal = false, transpose_a = #stablehlo<transpose TRANSPOSE>}> : (tensor<3x3xf64>, tensor<2x3xf64>) -> tensor<2x3xf64>
  check.expect_almost_eq_const %result, dense<[[-3.250000e+00, 1.000000e+00, 1.750000e+00], [-3.250000e+00, 1.000000e+00, 7.500000e-01]]> : tensor<2x3xf64>
  func.return
}

// -----

func.func @triangular_solve_unit() {
  %a = stablehlo.constant dense<[[1.0, 0.0], [3.0, 1.0]]> : tensor<2x2xf64>
  %b = stablehlo.constant dense<[[2.0], [7.0]]> : tensor<2x1xf64>
  %result = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, unit_diagonal = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<2x2xf64>, tensor<2x1xf64>) -> tensor<2x1xf64>
  check.expect_almost_eq_const %result, dense<[[2.000000e+00], [1.000000e+00]]> : tensor<2x1xf64>
  func.return
}

// -----

func.func @triangular_solve_adjoint() {
  %a = stablehlo.constant dense<[[(2.0, 0.0), (0.0, 0.0)], [(1.0, 2.0), (4.0, 0.0)]]> : tensor<2x2xcomplex<f64>>
  %b = stablehlo.constant dense<[[(1.0, 1.0)], [(2.0, 0.0)]]> : tensor<2x1xcomplex<f64>>
  %result = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose ADJOINT>}> : (tensor<2x2xcomplex<f64>>, tensor<2x1xcomplex<f64>>) -> tensor<2x1xcomplex<f64>>
  check.expect_almost_eq_const %result, dense<[[(2.500000e-01,1.000000e+00)], [(5.000000e-01,0.000000e+00)]]> : tensor<2x1xcomplex<f64>>
  func.return
}

// -----

func.func @triangular_solve_batch() {
  %a = stablehlo.constant dense<[[[[2.0, 0.0], [1.0, 4.0]], [[1.0, 0.0], [5.0, 2.0]], [[4.0, 0.0], [2.0, 8.0]]]]> : tensor<1x3x2x2xf64>
  %b = stablehlo.constant dense<[[[[2.0], [9.0]], [[3.0], [1.0]], [[1.0], [2.0]]]]> : tensor<1x3x2x1xf64>
  %result = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<1x3x2x2xf64>, tensor<1x3x2x1xf64>) -> tensor<1x3x2x1xf64>
  check.expect_almost_eq_const %result, dense<[[[[1.000000e+00], [2.000000e+00]], [[3.000000e+00], [-7.000000e+00]], [[2.500000e-01], [1.875000e-01]]]]> : tensor<1x3x2x1xf64>
  func.return
}

// -----

func.func @triangular_solve_complex_transpose() {
  %a = stablehlo.constant dense<[[(2.0, 1.0), (0.0, 0.0)], [(1.0, 2.0), (4.0, 0.0)]]> : tensor<2x2xcomplex<f64>>
  %b = stablehlo.constant dense<[[(1.0, 1.0)], [(2.0, 0.0)]]> : tensor<2x1xcomplex<f64>>
  %result = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose TRANSPOSE>}> : (tensor<2x2xcomplex<f64>>, tensor<2x1xcomplex<f64>>) -> tensor<2x1xcomplex<f64>>
  check.expect_almost_eq_const %result, dense<[[(2.000000e-01,-1.000000e-01)], [(5.000000e-01,0.000000e+00)]]> : tensor<2x1xcomplex<f64>>
  func.return
}
