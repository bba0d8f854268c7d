// RUN: xdsl-opt %s --split-input-file --verify-diagnostics | filecheck %s

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: custom-call: expected api_version to be one of API_VERSION_ORIGINAL, API_VERSION_STATUS_RETURNING, API_VERSION_STATUS_RETURNING_UNIFIED, API_VERSION_TYPED_FFI, found API_VERSION_UNSPECIFIED
%r = hlo.custom_call(%f4) {custom_call_target = "a", api_version = "API_VERSION_UNSPECIFIED"} : (tensor<4xf32>) -> tensor<4xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: custom-call: expected schedule to be one of SCHEDULE_NONE, SCHEDULE_LATEST, SCHEDULE_EARLIEST, found LATEST
%r = hlo.custom_call(%f4) {custom_call_target = "a", schedule = "LATEST"} : (tensor<4xf32>) -> tensor<4xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: custom-call: expected padding_type to be one of PADDING_INVALID, PADDING_VALID, PADDING_SAME, found VALID
%r = hlo.custom_call(%f4) {custom_call_target = "a", padding_type = "VALID"} : (tensor<4xf32>) -> tensor<4xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: custom-call: expected 1 operand_layout_constraints, found 0
%r = hlo.custom_call(%f4) {custom_call_target = "a", operand_layout_constraints = []} : (tensor<4xf32>) -> tensor<4xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: custom-call: expected operand to be as constrained, f32[3], found f32[4]
%r = hlo.custom_call(%f4) {custom_call_target = "a", operand_layout_constraints = [tensor<3xf32>]} : (tensor<4xf32>) -> tensor<4xf32>
