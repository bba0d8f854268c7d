// RUN: xdsl-opt %s --split-input-file --verify-diagnostics | filecheck %s

%f4 = "test.op"() : () -> tensor<4xf32>
%s = "test.op"() : () -> tensor<i32>
// CHECK: tuple: expected result (f32[4], s32[]), found (f32[4], f32[4])
%r = hlo.tuple(%f4, %s) : (tensor<4xf32>, tensor<i32>) -> tuple<tensor<4xf32>, tensor<4xf32>>

// -----

%fs = "test.op"() : () -> tuple<tensor<4xf32>, tensor<i32>>
// CHECK: get-tuple-element: expected an index within (f32[4], s32[]), found 2
%r = hlo.get_tuple_element(%fs) {index = 2 : i64} : (tuple<tensor<4xf32>, tensor<i32>>) -> tensor<4xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: get-tuple-element: expected a tuple, found f32[4]
%r = hlo.get_tuple_element(%f4) {index = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>

// -----

%fs = "test.op"() : () -> tuple<tensor<4xf32>, tensor<i32>>
// CHECK: get-tuple-element: expected result s32[], found f32[4]
%r = hlo.get_tuple_element(%fs) {index = 1 : i64} : (tuple<tensor<4xf32>, tensor<i32>>) -> tensor<4xf32>

// -----

%s = "test.op"() : () -> tensor<i32>
// CHECK: while: expected condition to return pred[], found s32[]
%r = hlo.while(%s) cond {
^bb0(%a22: tensor<i32>):
  %r22 = hlo.negate(%a22) : (tensor<i32>) -> tensor<i32>
  hlo.return(%r22) : (tensor<i32>) -> ()
} body {
^bb0(%a23: tensor<i32>):
  %r23 = hlo.negate(%a23) : (tensor<i32>) -> tensor<i32>
  hlo.return(%r23) : (tensor<i32>) -> ()
} : (tensor<i32>) -> tensor<i32>

// -----

%s = "test.op"() : () -> tensor<i32>
// CHECK: while: expected parameter 0 of condition to be s32[], found f32[]
%r = hlo.while(%s) cond {
^bb0(%a24: tensor<f32>):
  %r24 = hlo.compare(%a24, %a24) {direction = "LT"} : (tensor<f32>, tensor<f32>) -> tensor<i1>
  hlo.return(%r24) : (tensor<i1>) -> ()
} body {
^bb0(%a25: tensor<i32>):
  %r25 = hlo.negate(%a25) : (tensor<i32>) -> tensor<i32>
  hlo.return(%r25) : (tensor<i32>) -> ()
} : (tensor<i32>) -> tensor<i32>

// -----

%s = "test.op"() : () -> tensor<i32>
// CHECK: while: expected parameter 0 of body to be s32[], found f32[]
%r = hlo.while(%s) cond {
^bb0(%a26: tensor<i32>):
  %r26 = hlo.compare(%a26, %a26) {direction = "LT"} : (tensor<i32>, tensor<i32>) -> tensor<i1>
  hlo.return(%r26) : (tensor<i1>) -> ()
} body {
^bb0(%a27: tensor<f32>):
  %r27 = hlo.negate(%a27) : (tensor<f32>) -> tensor<f32>
  hlo.return(%r27) : (tensor<f32>) -> ()
} : (tensor<i32>) -> tensor<i32>

// -----

%s = "test.op"() : () -> tensor<i32>
// CHECK: while: expected body to return s32[], found pred[]
%r = hlo.while(%s) cond {
^bb0(%a28: tensor<i32>):
  %r28 = hlo.compare(%a28, %a28) {direction = "LT"} : (tensor<i32>, tensor<i32>) -> tensor<i1>
  hlo.return(%r28) : (tensor<i1>) -> ()
} body {
^bb0(%a29: tensor<i32>):
  %r29 = hlo.compare(%a29, %a29) {direction = "LT"} : (tensor<i32>, tensor<i32>) -> tensor<i1>
  hlo.return(%r29) : (tensor<i1>) -> ()
} : (tensor<i32>) -> tensor<i32>

// -----

%s = "test.op"() : () -> tensor<i32>
// CHECK: while: expected body to take 1 parameters, found 2
%r = hlo.while(%s) cond {
^bb0(%a30: tensor<i32>):
  %r30 = hlo.compare(%a30, %a30) {direction = "LT"} : (tensor<i32>, tensor<i32>) -> tensor<i1>
  hlo.return(%r30) : (tensor<i1>) -> ()
} body {
^bb0(%a31: tensor<i32>, %b31: tensor<i32>):
  %r31 = hlo.add(%a31, %b31) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  hlo.return(%r31) : (tensor<i32>) -> ()
} : (tensor<i32>) -> tensor<i32>

// -----

%s = "test.op"() : () -> tensor<i32>
// CHECK: while: expected result s32[], found f32[]
%r = hlo.while(%s) cond {
^bb0(%a32: tensor<i32>):
  %r32 = hlo.compare(%a32, %a32) {direction = "LT"} : (tensor<i32>, tensor<i32>) -> tensor<i1>
  hlo.return(%r32) : (tensor<i1>) -> ()
} body {
^bb0(%a33: tensor<i32>):
  %r33 = hlo.negate(%a33) : (tensor<i32>) -> tensor<i32>
  hlo.return(%r33) : (tensor<i32>) -> ()
} : (tensor<i32>) -> tensor<f32>

// -----

%u = "test.op"() : () -> tensor<ui32>
%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: conditional: expected branch index pred[] or s32[], found u32[]
%r = hlo.conditional(%u, %f4, %f4) branches {
^bb0(%a34: tensor<4xf32>):
  %r34 = hlo.negate(%a34) : (tensor<4xf32>) -> tensor<4xf32>
  hlo.return(%r34) : (tensor<4xf32>) -> ()
}, {
^bb0(%a35: tensor<4xf32>):
  %r35 = hlo.negate(%a35) : (tensor<4xf32>) -> tensor<4xf32>
  hlo.return(%r35) : (tensor<4xf32>) -> ()
} : (tensor<ui32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

// -----

%p = "test.op"() : () -> tensor<i1>
%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: conditional: expected 2 branches for a pred, found 1
%r = hlo.conditional(%p, %f4) branches {
^bb0(%a36: tensor<4xf32>):
  %r36 = hlo.negate(%a36) : (tensor<4xf32>) -> tensor<4xf32>
  hlo.return(%r36) : (tensor<4xf32>) -> ()
} : (tensor<i1>, tensor<4xf32>) -> tensor<4xf32>

// -----

%p = "test.op"() : () -> tensor<i1>
%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: conditional: expected 3 operands, found 2
%r = hlo.conditional(%p, %f4) branches {
^bb0(%a37: tensor<4xf32>):
  %r37 = hlo.negate(%a37) : (tensor<4xf32>) -> tensor<4xf32>
  hlo.return(%r37) : (tensor<4xf32>) -> ()
}, {
^bb0(%a38: tensor<4xf32>):
  %r38 = hlo.negate(%a38) : (tensor<4xf32>) -> tensor<4xf32>
  hlo.return(%r38) : (tensor<4xf32>) -> ()
} : (tensor<i1>, tensor<4xf32>) -> tensor<4xf32>

// -----

%p = "test.op"() : () -> tensor<i1>
%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: conditional: expected parameter 0 of branch 1 to be f32[4], found s32[4]
%r = hlo.conditional(%p, %f4, %f4) branches {
^bb0(%a39: tensor<4xf32>):
  %r39 = hlo.negate(%a39) : (tensor<4xf32>) -> tensor<4xf32>
  hlo.return(%r39) : (tensor<4xf32>) -> ()
}, {
^bb0(%a40: tensor<4xi32>):
  %r40 = hlo.negate(%a40) : (tensor<4xi32>) -> tensor<4xi32>
  hlo.return(%r40) : (tensor<4xi32>) -> ()
} : (tensor<i1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

// -----

%p = "test.op"() : () -> tensor<i1>
%f4 = "test.op"() : () -> tensor<4xf32>
%s4 = "test.op"() : () -> tensor<4xi32>
// CHECK: conditional: expected branch 1 to return f32[4], found s32[4]
%r = hlo.conditional(%p, %f4, %s4) branches {
^bb0(%a41: tensor<4xf32>):
  %r41 = hlo.negate(%a41) : (tensor<4xf32>) -> tensor<4xf32>
  hlo.return(%r41) : (tensor<4xf32>) -> ()
}, {
^bb0(%a42: tensor<4xi32>):
  %r42 = hlo.negate(%a42) : (tensor<4xi32>) -> tensor<4xi32>
  hlo.return(%r42) : (tensor<4xi32>) -> ()
} : (tensor<i1>, tensor<4xf32>, tensor<4xi32>) -> tensor<4xf32>

// -----

%p = "test.op"() : () -> tensor<i1>
%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: conditional: expected result f32[4], found f32[3]
%r = hlo.conditional(%p, %f4, %f4) branches {
^bb0(%a43: tensor<4xf32>):
  %r43 = hlo.negate(%a43) : (tensor<4xf32>) -> tensor<4xf32>
  hlo.return(%r43) : (tensor<4xf32>) -> ()
}, {
^bb0(%a44: tensor<4xf32>):
  %r44 = hlo.negate(%a44) : (tensor<4xf32>) -> tensor<4xf32>
  hlo.return(%r44) : (tensor<4xf32>) -> ()
} : (tensor<i1>, tensor<4xf32>, tensor<4xf32>) -> tensor<3xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: fusion: expected kind to be one of kLoop, kInput, kOutput, kCustom, found kFast
%r = hlo.fusion(%f4) {kind = "kFast"} calls {
^bb0(%a45: tensor<4xf32>):
  %r45 = hlo.negate(%a45) : (tensor<4xf32>) -> tensor<4xf32>
  hlo.return(%r45) : (tensor<4xf32>) -> ()
} : (tensor<4xf32>) -> tensor<4xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: fusion: expected calls to take 2 parameters, found 1
%r = hlo.fusion(%f4, %f4) {kind = "kLoop"} calls {
^bb0(%a46: tensor<4xf32>):
  %r46 = hlo.negate(%a46) : (tensor<4xf32>) -> tensor<4xf32>
  hlo.return(%r46) : (tensor<4xf32>) -> ()
} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: fusion: expected result f32[4], found f32[3]
%r = hlo.fusion(%f4) {kind = "kLoop"} calls {
^bb0(%a47: tensor<4xf32>):
  %r47 = hlo.negate(%a47) : (tensor<4xf32>) -> tensor<4xf32>
  hlo.return(%r47) : (tensor<4xf32>) -> ()
} : (tensor<4xf32>) -> tensor<3xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: async-start: expected result ((operands), result, state…), found (f32[4])
%r = hlo.async_start(%f4) calls {
^bb0(%a48: tensor<4xf32>):
  %r48 = hlo.negate(%a48) : (tensor<4xf32>) -> tensor<4xf32>
  hlo.return(%r48) : (tensor<4xf32>) -> ()
} : (tensor<4xf32>) -> tuple<tensor<4xf32>>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: async-start: expected operands in the result (f32[4]), found f32[4]
%r = hlo.async_start(%f4) calls {
^bb0(%a49: tensor<4xf32>):
  %r49 = hlo.negate(%a49) : (tensor<4xf32>) -> tensor<4xf32>
  hlo.return(%r49) : (tensor<4xf32>) -> ()
} : (tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>>

// -----

%f4x2 = "test.op"() : () -> tuple<tensor<4xf32>, tensor<4xf32>>
// CHECK: async-update: expected the operand to be async-start or async-update, found test.op
%r = hlo.async_update(%f4x2) : (tuple<tensor<4xf32>, tensor<4xf32>>) -> tuple<tensor<4xf32>, tensor<4xf32>>

// -----

%f4x2 = "test.op"() : () -> tuple<tensor<4xf32>, tensor<4xf32>>
// CHECK: async-done: expected the operand to be async-start or async-update, found test.op
%r = hlo.async_done(%f4x2) : (tuple<tensor<4xf32>, tensor<4xf32>>) -> tensor<4xf32>

// -----

%tok = "test.op"() : () -> !hlo.token
%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: after-all: expected operand token[], found f32[4]
%r = hlo.after_all(%tok, %f4) : (!hlo.token, tensor<4xf32>) -> !hlo.token

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: add-dependency: expected second operand token[], found f32[4]
%r = hlo.add_dependency(%f4, %f4) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: opt-barrier: expected result f32[4], found f32[3]
%r = hlo.opt_barrier(%f4) : (tensor<4xf32>) -> tensor<3xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: domain: expected result f32[4], found f32[3]
%r = hlo.domain(%f4) {domain = "{}"} : (tensor<4xf32>) -> tensor<3xf32>
