// RUN: stablehlo-translate --interpret -split-input-file %s

func.func @bitcast_convert_f32_to_i32() {
  %operand = stablehlo.constant dense<[1.0, -0.0]> : tensor<2xf32>
  %result = stablehlo.bitcast_convert %operand : (tensor<2xf32>) -> tensor<2xi32>
  check.expect_eq_const %result, dense<[1065353216, -2147483648]> : tensor<2xi32>
  func.return
}

// -----

func.func @bitcast_convert_i32_to_ui8() {
  %operand = stablehlo.constant dense<[322262905]> : tensor<1xi32>
  %result = stablehlo.bitcast_convert %operand : (tensor<1xi32>) -> tensor<1x4xui8>
  check.expect_eq_const %result, dense<[[121, 87, 53, 19]]> : tensor<1x4xui8>
  func.return
}

// -----

func.func @bitcast_convert_ui8_to_i32() {
  %operand = stablehlo.constant dense<[[121, 87, 53, 19]]> : tensor<1x4xui8>
  %result = stablehlo.bitcast_convert %operand : (tensor<1x4xui8>) -> tensor<1xi32>
  check.expect_eq_const %result, dense<322262905> : tensor<1xi32>
  func.return
}

// -----

func.func @bitcast_convert_c_f64_to_c_f32() {
  %operand = stablehlo.constant dense<[(1.0, 2.0)]> : tensor<1xcomplex<f64>>
  %result = stablehlo.bitcast_convert %operand : (tensor<1xcomplex<f64>>) -> tensor<1x2xcomplex<f32>>
  check.expect_eq_const %result, dense<[[(0.000000e+00,1.875000e+00), (0.000000e+00,2.000000e+00)]]> : tensor<1x2xcomplex<f32>>
  func.return
}

// -----

func.func @bitcast_convert_ui8_to_i32_rows() {
  %operand = stablehlo.constant dense<[[[1, 0, 0, 0], [255, 255, 255, 255]]]> : tensor<1x2x4xui8>
  %result = stablehlo.bitcast_convert %operand : (tensor<1x2x4xui8>) -> tensor<1x2xi32>
  check.expect_eq_const %result, dense<[[1, -1]]> : tensor<1x2xi32>
  func.return
}
