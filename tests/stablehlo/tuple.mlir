// RUN: stablehlo-translate --interpret -split-input-file %s

func.func @tuple_and_get_tuple_element() {
  %val0 = stablehlo.constant dense<1> : tensor<i64>
  %val1 = stablehlo.constant dense<2> : tensor<i64>
  %inner = stablehlo.tuple %val0, %val1 : tuple<tensor<i64>, tensor<i64>>
  %outer = stablehlo.tuple %val0, %inner : tuple<tensor<i64>, tuple<tensor<i64>, tensor<i64>>>
  %second = stablehlo.get_tuple_element %outer[1] : (tuple<tensor<i64>, tuple<tensor<i64>, tensor<i64>>>) -> tuple<tensor<i64>, tensor<i64>>
  %result = stablehlo.get_tuple_element %second[1] : (tuple<tensor<i64>, tensor<i64>>) -> tensor<i64>
  check.expect_eq_const %result, dense<2> : tensor<i64>
  func.return
}
