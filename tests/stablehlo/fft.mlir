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
