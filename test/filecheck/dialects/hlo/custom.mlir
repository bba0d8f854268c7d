// RUN: XNEURON_ROUNDTRIP

// Custom calls, and opcodes without a meaning here.

builtin.module {
  func.func private @custom(%f4: tensor<4xf32>, %s: tensor<i32>) {
    // CHECK: %custom_call = hlo.custom_call(%f4, %s) {custom_call_target = "target", operand_layout_constraints = [tensor<4xf32>, tensor<i32>], custom_call_has_side_effect, schedule = "SCHEDULE_LATEST", api_version = "API_VERSION_TYPED_FFI"} : (tensor<4xf32>, tensor<i32>) -> tuple<tensor<4xf32>, tensor<i32>>
    %custom_call = hlo.custom_call(%f4, %s) {custom_call_target = "target", operand_layout_constraints = [tensor<4xf32>, tensor<i32>], custom_call_has_side_effect, schedule = "SCHEDULE_LATEST", api_version = "API_VERSION_TYPED_FFI"} : (tensor<4xf32>, tensor<i32>) -> tuple<tensor<4xf32>, tensor<i32>>

    // CHECK: %calls = hlo.custom_call(%f4) {custom_call_target = "calls", single_computation} called_computations {
    // CHECK-NEXT: ^bb0(%a26: tensor<f32>):
    // CHECK-NEXT: %r26 = hlo.negate(%a26) : (tensor<f32>) -> tensor<f32>
    // CHECK-NEXT: hlo.return(%r26) : (tensor<f32>) -> ()
    // CHECK-NEXT: } : (tensor<4xf32>) -> tensor<4xf32>
    %calls = hlo.custom_call(%f4) {custom_call_target = "calls", single_computation} called_computations {
    ^bb0(%a26: tensor<f32>):
      %r26 = hlo.negate(%a26) : (tensor<f32>) -> tensor<f32>
      hlo.return(%r26) : (tensor<f32>) -> ()
    } : (tensor<4xf32>) -> tensor<4xf32>

    // CHECK: %opaque = hlo.opaque(%f4) {opcode_name = "new-opcode", attributes_text = "level=3"} : (tensor<4xf32>) -> tensor<4xf32>
    %opaque = hlo.opaque(%f4) {opcode_name = "new-opcode", attributes_text = "level=3"} : (tensor<4xf32>) -> tensor<4xf32>
    func.return
  }
}
