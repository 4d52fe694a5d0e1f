// RUN: stablehlo-translate --interpret -split-input-file %s

func.func @fft_fft() {
  %operand = stablehlo.constant dense<[[(1.0, 0.0), (0.0, 1.0), (2.0, 0.0), (3.0, -1.0)], [(0.0, 0.0), (1.0, 1.0), (5.0, 0.0), (0.5, 0.0)]]> : tensor<2x4xcomplex<f64>>
  %result = stablehlo.fft %operand, type = FFT, length = [4] : (tensor<2x4xcomplex<f64>>) -> tensor<2x4xcomplex<f64>>
  check.expect_almost_eq_const %result, dense<[[(6.000000e+00,0.000000e+00), (1.000000e+00,3.000000e+00), (0.000000e+00,0.000000e+00), (-3.000000e+00,-3.000000e+00)], [(6.500000e+00,1.000000e+00), (-4.000000e+00,-5.000000e-01), (3.500000e+00,-1.000000e+00), (-6.000000e+00,5.000000e-01)]]> : tensor<2x4xcomplex<f64>>
  func.return
}

// -----

func.func @fft_fft_two() {
  %operand = stablehlo.constant dense<[[(1.0, 0.0), (0.0, 1.0), (2.0, 0.0), (3.0, -1.0)], [(0.0, 0.0), (1.0, 1.0), (5.0, 0.0), (0.5, 0.0)]]> : tensor<2x4xcomplex<f64>>
  %result = stablehlo.fft %operand, type = FFT, length = [2, 4] : (tensor<2x4xcomplex<f64>>) -> tensor<2x4xcomplex<f64>>
  check.expect_almost_eq_const %result, dense<[[(1.250000e+01,1.000000e+00), (-3.000000e+00,2.500000e+00), (3.500000e+00,-1.000000e+00), (-9.000000e+00,-2.500000e+00)], [(-5.000000e-01,-1.000000e+00), (5.000000e+00,3.500000e+00), (-3.500000e+00,1.000000e+00), (3.000000e+00,-3.500000e+00)]]> : tensor<2x4xcomplex<f64>>
  func.return
}

// -----

func.func @fft_ifft() {
  %operand = stablehlo.constant dense<[[(1.0, 0.0), (0.0, 1.0), (2.0, 0.0), (3.0, -1.0)], [(0.0, 0.0), (1.0, 1.0), (5.0, 0.0), (0.5, 0.0)]]> : tensor<2x4xcomplex<f64>>
  %result = stablehlo.fft %operand, type = IFFT, length = [4] : (tensor<2x4xcomplex<f64>>) -> tensor<2x4xcomplex<f64>>
  check.expect_almost_eq_const %result, dense<[[(1.500000e+00,0.000000e+00), (-7.500000e-01,-7.500000e-01), (0.000000e+00,0.000000e+00), (2.500000e-01,7.500000e-01)], [(1.625000e+00,2.500000e-01), (-1.500000e+00,1.250000e-01), (8.750000e-01,-2.500000e-01), (-1.000000e+00,-1.250000e-01)]]> : tensor<2x4xcomplex<f64>>
  func.return
}

// -----

func.func @fft_ifft_two() {
  %operand = stablehlo.constant dense<[[(1.0, 0.0), (0.0, 1.0), (2.0, 0.0), (3.0, -1.0)], [(0.0, 0.0), (1.0, 1.0), (5.0, 0.0), (0.5, 0.0)]]> : tensor<2x4xcomplex<f64>>
  %result = stablehlo.fft %operand, type = IFFT, length = [2, 4] : (tensor<2x4xcomplex<f64>>) -> tensor<2x4xcomplex<f64>>
  check.expect_almost_eq_const %result, dense<[[(1.562500e+00,1.250000e-01), (-1.125000e+00,-3.125000e-01), (4.375000e-01,-1.250000e-01), (-3.750000e-01,3.125000e-01)], [(-6.250000e-02,-1.250000e-01), (3.750000e-01,-4.375000e-01), (-4.375000e-01,1.250000e-01), (6.250000e-01,4.375000e-01)]]> : tensor<2x4xcomplex<f64>>
  func.return
}

// -----

func.func @fft_rfft() {
  %operand = stablehlo.constant dense<[[1.0, 2.0, 3.0, 4.0], [0.5, 0.0, -1.0, 2.0]]> : tensor<2x4xf64>
  %result = stablehlo.fft %operand, type = RFFT, length = [2, 4] : (tensor<2x4xf64>) -> tensor<2x3xcomplex<f64>>
  check.expect_almost_eq_const %result, dense<[[(1.150000e+01,0.000000e+00), (-5.000000e-01,4.000000e+00), (-4.500000e+00,0.000000e+00)], [(8.500000e+00,0.000000e+00), (-3.500000e+00,0.000000e+00), (5.000000e-01,0.000000e+00)]]> : tensor<2x3xcomplex<f64>>
  func.return
}

// -----

func.func @fft_irfft() {
  %operand = stablehlo.constant dense<[[(10.0, 0.0), (-2.0, 2.0), (-2.0, 0.0)], [(1.0, 0.0), (0.5, 1.0), (2.0, 0.0)]]> : tensor<2x3xcomplex<f64>>
  %result = stablehlo.fft %operand, type = IRFFT, length = [2, 4] : (tensor<2x3xcomplex<f64>>) -> tensor<2x4xf64>
  check.expect_almost_eq_const %result, dense<[[1.000000e+00, 6.250000e-01, 1.750000e+00, 2.125000e+00], [0.000000e+00, 1.375000e+00, 1.250000e+00, 1.875000e+00]]> : tensor<2x4xf64>
  func.return
}

// -----

func.func @fft_rfft_one() {
  %operand = stablehlo.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf64>
  %result = stablehlo.fft %operand, type = RFFT, length = [3] : (tensor<3xf64>) -> tensor<2xcomplex<f64>>
  check.expect_almost_eq_const %result, dense<[(6.000000e+00,0.000000e+00), (-1.500000e+00,0.8660254037844386)]> : tensor<2xcomplex<f64>>
  func.return
}

// -----

func.func @fft_irfft_one() {
  %operand = stablehlo.constant dense<[(6.0, 0.0), (-1.5, 0.5)]> : tensor<2xcomplex<f64>>
  %result = stablehlo.fft %operand, type = IRFFT, length = [3] : (tensor<2xcomplex<f64>>) -> tensor<3xf64>
  check.expect_almost_eq_const %result, dense<[1.000000e+00, 2.2113248654051869, 2.7886751345948131]> : tensor<3xf64>
  func.return
}

// -----

func.func @fft_irfft_three() {
  %operand = stablehlo.constant dense<[[[(1.0, 0.0), (0.0, 1.0)], [(2.0, 0.0), (3.0, -1.0)]], [[(0.0, 0.0), (1.0, 1.0)], [(5.0, 0.0), (0.5, 0.0)]]]> : tensor<2x2x2xcomplex<f64>>
  %result = stablehlo.fft %operand, type = IRFFT, length = [2, 2, 3] : (tensor<2x2x2xcomplex<f64>>) -> tensor<2x2x3xf64>
  check.expect_almost_eq_const %result, dense<[[[1.4166666666666665, 0.14732909936926022, 0.43600423396407306], [-0.91666666666666663, -0.72467936855888593, 0.14134603522555267]], [[0.083333333333333329, -0.14732909936926022, -0.43600423396407306], [-2.500000e-01, 0.48066243270259357, 0.76933756729740632]]]> : tensor<2x2x3xf64>
  func.return
}

// -----

func.func @fft_rfft_three() {
  %operand = stablehlo.constant dense<[[[1.0, 2.0, 0.5], [3.0, 4.0, 0.0]], [[0.5, 0.0, 2.0], [-1.0, 2.0, 1.0]]]> : tensor<2x2x3xf64>
  %result = stablehlo.fft %operand, type = RFFT, length = [2, 2, 3] : (tensor<2x2x3xf64>) -> tensor<2x2x2xcomplex<f64>>
  check.expect_almost_eq_const %result, dense<[[[(1.500000e+01,0.000000e+00), (-2.250000e+00,-3.897114317029974)], [(-3.000000e+00,0.000000e+00), (7.500000e-01,4.7631397208144124)]], [[(6.000000e+00,0.000000e+00), (3.750000e+00,-5.6291651245988508)], [(-4.000000e+00,0.000000e+00), (-3.250000e+00,-0.43301270189221963)]]]> : tensor<2x2x2xcomplex<f64>>
  func.return
}
