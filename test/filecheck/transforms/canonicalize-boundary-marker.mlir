// RUN: xneuron-opt %s -p canonicalize-boundary-marker --remarks 2>&1 | filecheck %s
// RUN: xneuron-opt %s -p canonicalize-boundary-marker,boundary-marker-removal,hlo-dce | filecheck %s --check-prefix=GONE

!f = tensor<f32>
!pair = tuple<tensor<f32>, tensor<f32>>

// CHECK: remark[missed/marker-no-identity]: canonicalize-boundary-marker: odd: expected a result f32[], found f32[4]

// One operand: packed, marked, taken out again. Target, config and metadata stay; the api_version becomes the original.

// CHECK-LABEL: @one
// CHECK-NEXT: %[[T:.*]] = hlo.tuple(%a) : (tensor<f32>) -> tuple<tensor<f32>>
// CHECK-NEXT: %[[M:.*]] = hlo.custom_call(%[[T]]) {custom_call_target = "NeuronBoundaryMarker-End", api_version = "API_VERSION_ORIGINAL", backend_config = "boundaryCount=3", metadata = {op_name = "layer"}}
// CHECK-NEXT: %[[E:.*]] = hlo.get_tuple_element(%[[M]]) {index = 0 : i64}
// CHECK-NEXT: func.return %[[E]]
// GONE-LABEL: @one
// GONE-NEXT: func.return %a
func.func @one(%a: !f) -> !f {
  %m = hlo.custom_call(%a) {custom_call_target = "NeuronBoundaryMarker-End", api_version = "API_VERSION_STATUS_RETURNING", backend_config = "boundaryCount=3", metadata = {op_name = "layer"}} : (!f) -> !f
  func.return %m : !f
}

// Several operands: packed; the result is a tuple already. Tuples are canonical, a tuple among loose values is not.

// CHECK-LABEL: @several
// CHECK: %[[T:.*]] = hlo.tuple(%a, %b)
// CHECK-NEXT: %m = hlo.custom_call(%[[T]]) {custom_call_target = "AwsNeuronModuleMarkerStart-Forward"
// CHECK-NEXT: %n = hlo.custom_call(%m) {custom_call_target = "AwsNeuronModuleMarkerEnd-Backward"}
// CHECK-NEXT: %[[U:.*]] = hlo.tuple(%n, %a)
// CHECK-NEXT: hlo.custom_call(%[[U]])
// GONE-LABEL: @several
// GONE-NEXT: %[[T:.*]] = hlo.tuple(%a, %b)
// GONE-NEXT: %[[U:.*]] = hlo.tuple(%[[T]], %a)
// GONE-NEXT: func.return %[[U]]
func.func @several(%a: !f, %b: !f) -> tuple<tuple<tensor<f32>, tensor<f32>>, tensor<f32>> {
  %m = hlo.custom_call(%a, %b) {custom_call_target = "AwsNeuronModuleMarkerStart-Forward"} : (!f, !f) -> !pair
  %n = hlo.custom_call(%m) {custom_call_target = "AwsNeuronModuleMarkerEnd-Backward"} : (!pair) -> !pair
  %o = hlo.custom_call(%n, %a) {custom_call_target = "AwsNeuronModuleMarkerEnd-Backward"} : (!pair, !f) -> tuple<tuple<tensor<f32>, tensor<f32>>, tensor<f32>>
  func.return %o : tuple<tuple<tensor<f32>, tensor<f32>>, tensor<f32>>
}

// What is not an identity stays; so does what is not a marker, and what is not in the entry.

// CHECK-LABEL: @odd
// CHECK-NOT: hlo.tuple
func.func @odd(%a: !f) -> tensor<4xf32> {
  %odd = hlo.custom_call(%a) {custom_call_target = "NeuronBoundaryMarker-Start"} : (!f) -> tensor<4xf32>
  %other = hlo.custom_call(%a) {custom_call_target = "Other"} : (!f) -> !f
  %r = func.call @inner(%other) : (!f) -> !f
  func.return %odd : tensor<4xf32>
}
func.func private @inner(%a: !f) -> !f {
  %m = hlo.custom_call(%a) {custom_call_target = "NeuronBoundaryMarker-Start"} : (!f) -> !f
  func.return %m : !f
}
