// RUN: XNEURON_ROUNDTRIP

// Tuples, loops, conditionals, fusions, asynchronous pairs, ordering.

builtin.module {
  func.func private @control_flow(%f4: tensor<4xf32>, %s: tensor<i32>, %fs: tuple<tensor<4xf32>, tensor<i32>>, %p: tensor<i1>, %f: tensor<f32>, %tok: !hlo.token) {
    // CHECK: %tuple = hlo.tuple(%f4, %s) : (tensor<4xf32>, tensor<i32>) -> tuple<tensor<4xf32>, tensor<i32>>
    %tuple = hlo.tuple(%f4, %s) : (tensor<4xf32>, tensor<i32>) -> tuple<tensor<4xf32>, tensor<i32>>

    // CHECK: %empty = hlo.tuple() : () -> tuple<>
    %empty = hlo.tuple() : () -> tuple<>

    // CHECK: %get_tuple_element = hlo.get_tuple_element(%fs) {index = 1 : i64} : (tuple<tensor<4xf32>, tensor<i32>>) -> tensor<i32>
    %get_tuple_element = hlo.get_tuple_element(%fs) {index = 1 : i64} : (tuple<tensor<4xf32>, tensor<i32>>) -> tensor<i32>

    // CHECK: %while = hlo.while(%s) {computations = [#hlo.computation<"cond", {}>, #hlo.computation<"body", {}>]} cond {
    // CHECK-NEXT: ^bb0(%a11: tensor<i32>):
    // CHECK-NEXT: %r11 = hlo.compare(%a11, %a11) {direction = "LT"} : (tensor<i32>, tensor<i32>) -> tensor<i1>
    // CHECK-NEXT: hlo.return(%r11) : (tensor<i1>) -> ()
    // CHECK-NEXT: } body {
    // CHECK-NEXT: ^bb0(%a12: tensor<i32>):
    // CHECK-NEXT: %r12 = hlo.negate(%a12) : (tensor<i32>) -> tensor<i32>
    // CHECK-NEXT: hlo.return(%r12) : (tensor<i32>) -> ()
    // CHECK-NEXT: } : (tensor<i32>) -> tensor<i32>
    %while = hlo.while(%s) {computations = [#hlo.computation<"cond", {}>, #hlo.computation<"body", {}>]} cond {
    ^bb0(%a11: tensor<i32>):
      %r11 = hlo.compare(%a11, %a11) {direction = "LT"} : (tensor<i32>, tensor<i32>) -> tensor<i1>
      hlo.return(%r11) : (tensor<i1>) -> ()
    } body {
    ^bb0(%a12: tensor<i32>):
      %r12 = hlo.negate(%a12) : (tensor<i32>) -> tensor<i32>
      hlo.return(%r12) : (tensor<i32>) -> ()
    } : (tensor<i32>) -> tensor<i32>

    // Several operands are representable; the normal form is one tuple.
    // CHECK: %state0, %state1 = hlo.while(%s, %f4) cond {
    // CHECK-NEXT: ^bb0(%a14: tensor<i32>, %b14: tensor<4xf32>):
    // CHECK-NEXT: %r14 = hlo.compare(%a14, %a14) {direction = "LT"} : (tensor<i32>, tensor<i32>) -> tensor<i1>
    // CHECK-NEXT: hlo.return(%r14) : (tensor<i1>) -> ()
    // CHECK-NEXT: } body {
    // CHECK-NEXT: ^bb0(%a13: tensor<i32>, %b13: tensor<4xf32>):
    // CHECK-NEXT: hlo.return(%a13, %b13) : (tensor<i32>, tensor<4xf32>) -> ()
    // CHECK-NEXT: } : (tensor<i32>, tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>)
    %state0, %state1 = hlo.while(%s, %f4) cond {
    ^bb0(%a14: tensor<i32>, %b14: tensor<4xf32>):
      %r14 = hlo.compare(%a14, %a14) {direction = "LT"} : (tensor<i32>, tensor<i32>) -> tensor<i1>
      hlo.return(%r14) : (tensor<i1>) -> ()
    } body {
    ^bb0(%a13: tensor<i32>, %b13: tensor<4xf32>):
      hlo.return(%a13, %b13) : (tensor<i32>, tensor<4xf32>) -> ()
    } : (tensor<i32>, tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>)

    // CHECK: %conditional = hlo.conditional(%p, %f4, %f4) branches {
    // CHECK-NEXT: ^bb0(%a15: tensor<4xf32>):
    // CHECK-NEXT: %r15 = hlo.negate(%a15) : (tensor<4xf32>) -> tensor<4xf32>
    // CHECK-NEXT: hlo.return(%r15) : (tensor<4xf32>) -> ()
    // CHECK-NEXT: }, {
    // CHECK-NEXT: ^bb0(%a16: tensor<4xf32>):
    // CHECK-NEXT: hlo.return(%a16) : (tensor<4xf32>) -> ()
    // CHECK-NEXT: } : (tensor<i1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %conditional = hlo.conditional(%p, %f4, %f4) branches {
    ^bb0(%a15: tensor<4xf32>):
      %r15 = hlo.negate(%a15) : (tensor<4xf32>) -> tensor<4xf32>
      hlo.return(%r15) : (tensor<4xf32>) -> ()
    }, {
    ^bb0(%a16: tensor<4xf32>):
      hlo.return(%a16) : (tensor<4xf32>) -> ()
    } : (tensor<i1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

    // CHECK: %switch = hlo.conditional(%s, %f4, %s, %f) branches {
    // CHECK-NEXT: ^bb0(%a17: tensor<4xf32>):
    // CHECK-NEXT: hlo.return(%a17) : (tensor<4xf32>) -> ()
    // CHECK-NEXT: }, {
    // CHECK-NEXT: ^bb0(%a18: tensor<i32>):
    // CHECK-NEXT: %r18 = hlo.iota() {iota_dimension = 0 : i64} : () -> tensor<4xf32>
    // CHECK-NEXT: hlo.return(%r18) : (tensor<4xf32>) -> ()
    // CHECK-NEXT: }, {
    // CHECK-NEXT: ^bb0(%a19: tensor<f32>):
    // CHECK-NEXT: %r19 = hlo.broadcast(%a19) {dimensions = array<i64>} : (tensor<f32>) -> tensor<4xf32>
    // CHECK-NEXT: hlo.return(%r19) : (tensor<4xf32>) -> ()
    // CHECK-NEXT: } : (tensor<i32>, tensor<4xf32>, tensor<i32>, tensor<f32>) -> tensor<4xf32>
    %switch = hlo.conditional(%s, %f4, %s, %f) branches {
    ^bb0(%a17: tensor<4xf32>):
      hlo.return(%a17) : (tensor<4xf32>) -> ()
    }, {
    ^bb0(%a18: tensor<i32>):
      %r18 = hlo.iota() {iota_dimension = 0 : i64} : () -> tensor<4xf32>
      hlo.return(%r18) : (tensor<4xf32>) -> ()
    }, {
    ^bb0(%a19: tensor<f32>):
      %r19 = hlo.broadcast(%a19) {dimensions = array<i64>} : (tensor<f32>) -> tensor<4xf32>
      hlo.return(%r19) : (tensor<4xf32>) -> ()
    } : (tensor<i32>, tensor<4xf32>, tensor<i32>, tensor<f32>) -> tensor<4xf32>

    // CHECK: %fusion = hlo.fusion(%f4, %f4) {kind = "kLoop"} calls {
    // CHECK-NEXT: ^bb0(%a20: tensor<4xf32>, %b20: tensor<4xf32>):
    // CHECK-NEXT: %r20 = hlo.add(%a20, %b20) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    // CHECK-NEXT: hlo.return(%r20) : (tensor<4xf32>) -> ()
    // CHECK-NEXT: } : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %fusion = hlo.fusion(%f4, %f4) {kind = "kLoop"} calls {
    ^bb0(%a20: tensor<4xf32>, %b20: tensor<4xf32>):
      %r20 = hlo.add(%a20, %b20) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      hlo.return(%r20) : (tensor<4xf32>) -> ()
    } : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

    // CHECK: %async_start = hlo.async_start(%f4) {async_execution_thread = "side"} calls {
    // CHECK-NEXT: ^bb0(%a21: tensor<4xf32>):
    // CHECK-NEXT: %r21 = hlo.negate(%a21) : (tensor<4xf32>) -> tensor<4xf32>
    // CHECK-NEXT: hlo.return(%r21) : (tensor<4xf32>) -> ()
    // CHECK-NEXT: } : (tensor<4xf32>) -> tuple<tuple<tensor<4xf32>>, tensor<4xf32>, tensor<ui32>>
    %async_start = hlo.async_start(%f4) {async_execution_thread = "side"} calls {
    ^bb0(%a21: tensor<4xf32>):
      %r21 = hlo.negate(%a21) : (tensor<4xf32>) -> tensor<4xf32>
      hlo.return(%r21) : (tensor<4xf32>) -> ()
    } : (tensor<4xf32>) -> tuple<tuple<tensor<4xf32>>, tensor<4xf32>, tensor<ui32>>

    // CHECK: %async_update = hlo.async_update(%async_start) : (tuple<tuple<tensor<4xf32>>, tensor<4xf32>, tensor<ui32>>) -> tuple<tuple<tensor<4xf32>>, tensor<4xf32>, tensor<ui32>>
    %async_update = hlo.async_update(%async_start) : (tuple<tuple<tensor<4xf32>>, tensor<4xf32>, tensor<ui32>>) -> tuple<tuple<tensor<4xf32>>, tensor<4xf32>, tensor<ui32>>

    // CHECK: %async_done = hlo.async_done(%async_update) : (tuple<tuple<tensor<4xf32>>, tensor<4xf32>, tensor<ui32>>) -> tensor<4xf32>
    %async_done = hlo.async_done(%async_update) : (tuple<tuple<tensor<4xf32>>, tensor<4xf32>, tensor<ui32>>) -> tensor<4xf32>

    // CHECK: %after_all = hlo.after_all(%tok, %tok) : (!hlo.token, !hlo.token) -> !hlo.token
    %after_all = hlo.after_all(%tok, %tok) : (!hlo.token, !hlo.token) -> !hlo.token

    // CHECK: %first_token = hlo.after_all() : () -> !hlo.token
    %first_token = hlo.after_all() : () -> !hlo.token

    // CHECK: %add_dependency = hlo.add_dependency(%f4, %tok) : (tensor<4xf32>, !hlo.token) -> tensor<4xf32>
    %add_dependency = hlo.add_dependency(%f4, %tok) : (tensor<4xf32>, !hlo.token) -> tensor<4xf32>

    // CHECK: %opt_barrier = hlo.opt_barrier(%fs) : (tuple<tensor<4xf32>, tensor<i32>>) -> tuple<tensor<4xf32>, tensor<i32>>
    %opt_barrier = hlo.opt_barrier(%fs) : (tuple<tensor<4xf32>, tensor<i32>>) -> tuple<tensor<4xf32>, tensor<i32>>

    // CHECK: %domain = hlo.domain(%f4) {domain = "{kind=\22sharding\22, entry={replicated}, exit={maximal device=0}}"} : (tensor<4xf32>) -> tensor<4xf32>
    %domain = hlo.domain(%f4) {domain = "{kind=\22sharding\22, entry={replicated}, exit={maximal device=0}}"} : (tensor<4xf32>) -> tensor<4xf32>

    // CHECK: hlo.control_dependency(%f4, %s) : (tensor<4xf32>, tensor<i32>) -> ()
    hlo.control_dependency(%f4, %s) : (tensor<4xf32>, tensor<i32>) -> ()
    func.return
  }
}
