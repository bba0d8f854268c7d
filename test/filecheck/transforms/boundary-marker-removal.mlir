// RUN: xneuron-opt %s -p boundary-marker-removal --remarks 2>&1 | filecheck %s
// RUN: not xneuron-opt %s -p 'boundary-marker-removal{strict=true}' 2>&1 | filecheck %s --check-prefix=STRICT

!f = tensor<f32>
!pair = tuple<tensor<f32>, tensor<f32>>

// CHECK: remark[missed/marker-no-identity]: boundary-marker-removal: odd: expected a result f32[], found f32[4]
// STRICT: NCC_ITUP001: end used by non-GTE instruction whole: Use GetTupleElement to access tuple components in boundary markers
// STRICT-NOT: NCC_ITUP001

// The producer's own pair on a tuple, with elements and with a user that takes the tuple whole.

// CHECK-LABEL: @pair
// CHECK-NEXT: %t = hlo.tuple(%a, %b)
// CHECK-NEXT: %whole = hlo.opt_barrier(%t)
// CHECK-NEXT: hlo.add(%b, %a)
func.func @pair(%a: !f, %b: !f) -> !f {
  %t = hlo.tuple(%a, %b) : (!f, !f) -> !pair
  %start = hlo.custom_call(%t) {custom_call_target = "NeuronBoundaryMarker-Start", backend_config = "boundaryCount=0"} : (!pair) -> !pair
  %end = hlo.custom_call(%start) {custom_call_target = "NeuronBoundaryMarker-End", backend_config = "boundaryCount=0"} : (!pair) -> !pair
  %x = hlo.get_tuple_element(%end) {index = 0 : i64} : (!pair) -> !f
  %y = hlo.get_tuple_element(%end) {index = 1 : i64} : (!pair) -> !f
  %whole = hlo.opt_barrier(%end) : (!pair) -> !pair
  %s = hlo.add(%y, %x) : (!f, !f) -> !f
  func.return %s : !f
}

// Only elements are used: the tuple goes too. A packing marker leaves a tuple where one is needed.

// CHECK-LABEL: @elements
// CHECK-NEXT: %m = hlo.tuple(%b, %a)
// CHECK-NEXT: %s = hlo.add(%a, %b)
// CHECK-NEXT: %r = hlo.tuple(%s, %m)
func.func @elements(%a: !f, %b: !f) -> tuple<tensor<f32>, tuple<tensor<f32>, tensor<f32>>> {
  %t = hlo.tuple(%a, %b) : (!f, !f) -> !pair
  %e = hlo.custom_call(%t) {custom_call_target = "AwsNeuronModuleMarkerEnd-Forward"} : (!pair) -> !pair
  %x = hlo.get_tuple_element(%e) {index = 0 : i64} : (!pair) -> !f
  %m = hlo.custom_call(%b, %x) {custom_call_target = "AwsNeuronModuleMarkerStart-Backward"} : (!f, !f) -> !pair
  %y = hlo.get_tuple_element(%m) {index = 0 : i64} : (!pair) -> !f
  %s = hlo.add(%x, %y) : (!f, !f) -> !f
  %r = hlo.tuple(%s, %m) : (!f, !pair) -> tuple<tensor<f32>, tuple<tensor<f32>, tensor<f32>>>
  func.return %r : tuple<tensor<f32>, tuple<tensor<f32>, tensor<f32>>>
}

// In nested computations and as roots; orders follow the value.

// CHECK-LABEL: @nested
// CHECK: hlo.fusion
// CHECK-NEXT: ^bb0(%p: tensor<f32>):
// CHECK-NEXT: hlo.return(%p)
// CHECK: hlo.control_dependency(%a, %r)
func.func @nested(%a: !f) -> !f {
  %m = hlo.custom_call(%a) {custom_call_target = "AwsNeuronModuleMarkerEnd-Backward"} : (!f) -> !f
  %r = hlo.fusion(%a) {kind = "kLoop"} calls {
  ^bb0(%p: !f):
    %s = hlo.custom_call(%p) {custom_call_target = "AwsNeuronModuleMarkerStart-Forward"} : (!f) -> !f
    hlo.return(%s) : (!f) -> ()
  } : (!f) -> !f
  hlo.control_dependency(%m, %r) : (!f, !f) -> ()
  func.return %r : !f
}

// CHECK-LABEL: @odd
// CHECK-NEXT: %odd = hlo.custom_call(%a)
// CHECK-NEXT: %other = hlo.custom_call(%a)
func.func @odd(%a: !f) -> tensor<4xf32> {
  %odd = hlo.custom_call(%a) {custom_call_target = "NeuronBoundaryMarker-Start"} : (!f) -> tensor<4xf32>
  %other = hlo.custom_call(%a) {custom_call_target = "Other"} : (!f) -> !f
  func.return %odd : tensor<4xf32>
}
