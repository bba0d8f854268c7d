// RUN: xdsl-opt %s -p canonicalize | filecheck %s

builtin.module {
  // CHECK-LABEL: @element_of_tuple
  // CHECK-NEXT: func.return %b
  func.func @element_of_tuple(%a: tensor<4xf32>, %b: tensor<i32>) -> tensor<i32> {
    %t = hlo.tuple(%a, %b) : (tensor<4xf32>, tensor<i32>) -> tuple<tensor<4xf32>, tensor<i32>>
    %x = hlo.get_tuple_element(%t) {index = 1 : i64} : (tuple<tensor<4xf32>, tensor<i32>>) -> tensor<i32>
    func.return %x : tensor<i32>
  }

  // CHECK-LABEL: @tuple_of_elements
  // CHECK-NEXT: func.return %t
  func.func @tuple_of_elements(%t: tuple<tensor<4xf32>, tensor<i32>>) -> tuple<tensor<4xf32>, tensor<i32>> {
    %0 = hlo.get_tuple_element(%t) {index = 0 : i64} : (tuple<tensor<4xf32>, tensor<i32>>) -> tensor<4xf32>
    %1 = hlo.get_tuple_element(%t) {index = 1 : i64} : (tuple<tensor<4xf32>, tensor<i32>>) -> tensor<i32>
    %x = hlo.tuple(%0, %1) : (tensor<4xf32>, tensor<i32>) -> tuple<tensor<4xf32>, tensor<i32>>
    func.return %x : tuple<tensor<4xf32>, tensor<i32>>
  }

  // Another order, or not all of the elements, is another tuple.
  // CHECK-LABEL: @other_tuples
  // CHECK: hlo.tuple(%1, %0)
  // CHECK: hlo.tuple(%0)
  func.func @other_tuples(%t: tuple<tensor<f32>, tensor<f32>>) -> tuple<tuple<tensor<f32>, tensor<f32>>, tuple<tensor<f32>>> {
    %0 = hlo.get_tuple_element(%t) {index = 0 : i64} : (tuple<tensor<f32>, tensor<f32>>) -> tensor<f32>
    %1 = hlo.get_tuple_element(%t) {index = 1 : i64} : (tuple<tensor<f32>, tensor<f32>>) -> tensor<f32>
    %x = hlo.tuple(%1, %0) : (tensor<f32>, tensor<f32>) -> tuple<tensor<f32>, tensor<f32>>
    %y = hlo.tuple(%0) : (tensor<f32>) -> tuple<tensor<f32>>
    %z = hlo.tuple(%x, %y) : (tuple<tensor<f32>, tensor<f32>>, tuple<tensor<f32>>) -> tuple<tuple<tensor<f32>, tensor<f32>>, tuple<tensor<f32>>>
    func.return %z : tuple<tuple<tensor<f32>, tensor<f32>>, tuple<tensor<f32>>>
  }

  // CHECK-LABEL: @identities
  // CHECK-NEXT: func.return %a
  func.func @identities(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = hlo.copy(%a) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %1 = hlo.convert(%0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %2 = hlo.reshape(%1) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %3 = hlo.transpose(%2) {dimensions = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %4 = hlo.broadcast(%3) {dimensions = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %5 = hlo.slice(%4) {starts = array<i64: 0, 0>, limits = array<i64: 2, 3>, strides = array<i64: 1, 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %6 = hlo.concatenate(%5) {dimensions = array<i64: 0>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %7 = hlo.bitcast(%6) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    func.return %7 : tensor<2x3xf32>
  }

  // CHECK-LABEL: @not_identities
  func.func @not_identities(%a: tensor<3x3xf32>, %d: tensor<?x?xf32>) -> tensor<?x?xf32> {
    // CHECK: hlo.transpose(%a)
    %0 = hlo.transpose(%a) {dimensions = array<i64: 1, 0>} : (tensor<3x3xf32>) -> tensor<3x3xf32>
    // A copy to another layout, and one that is resharded.
    // CHECK: hlo.copy(%0)
    %1 = hlo.copy(%0) : (tensor<3x3xf32>) -> tensor<3x3xf32, #hlo.layout<"{0,1}">>
    // CHECK: hlo.copy(%1)
    %2 = hlo.copy(%1) {sharding = #hlo.sharding<"{replicated}">} : (tensor<3x3xf32, #hlo.layout<"{0,1}">>) -> tensor<3x3xf32, #hlo.layout<"{0,1}">>
    // Two dynamic shapes may differ.
    // CHECK: hlo.reshape(%d)
    %3 = hlo.reshape(%d) : (tensor<?x?xf32>) -> tensor<?x?xf32>
    hlo.control_dependency(%2, %3) : (tensor<3x3xf32, #hlo.layout<"{0,1}">>, tensor<?x?xf32>) -> ()
    func.return %3 : tensor<?x?xf32>
  }

  // CHECK-LABEL: @waiting_element
  // CHECK: hlo.get_tuple_element(%t)
  func.func @waiting_element(%a: tensor<4xf32>) -> tensor<4xf32> {
    %b = hlo.negate(%a) : (tensor<4xf32>) -> tensor<4xf32>
    %c = hlo.abs(%b) : (tensor<4xf32>) -> tensor<4xf32>
    %t = hlo.tuple(%b) : (tensor<4xf32>) -> tuple<tensor<4xf32>>
    %x = hlo.get_tuple_element(%t) {index = 0 : i64} : (tuple<tensor<4xf32>>) -> tensor<4xf32>
    hlo.control_dependency(%c, %x) : (tensor<4xf32>, tensor<4xf32>) -> ()
    func.return %x : tensor<4xf32>
  }

  // CHECK-LABEL: @ordered_after_itself
  // CHECK-NEXT: func.return %a
  func.func @ordered_after_itself(%a: tensor<4xf32>) -> tensor<4xf32> {
    hlo.control_dependency(%a, %a) : (tensor<4xf32>, tensor<4xf32>) -> ()
    func.return %a : tensor<4xf32>
  }
}
