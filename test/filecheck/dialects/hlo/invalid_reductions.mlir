// RUN: xdsl-opt %s --split-input-file --verify-diagnostics | filecheck %s

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: reduce: expected n inputs and n initial values, found 1 operands
%r = hlo.reduce(%f4) {dimensions = array<i64: 0>} to_apply {
^bb0(%a5: tensor<f32>, %b5: tensor<f32>):
  %r5 = hlo.add(%a5, %b5) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  hlo.return(%r5) : (tensor<f32>) -> ()
} : (tensor<4xf32>) -> tensor<f32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
%f = "test.op"() : () -> tensor<f32>
// CHECK: reduce: expected dimensions in [0, 1), found 1
%r = hlo.reduce(%f4, %f) {dimensions = array<i64: 1>} to_apply {
^bb0(%a5: tensor<f32>, %b5: tensor<f32>):
  %r5 = hlo.add(%a5, %b5) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  hlo.return(%r5) : (tensor<f32>) -> ()
} : (tensor<4xf32>, tensor<f32>) -> tensor<f32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
%f = "test.op"() : () -> tensor<f32>
// CHECK: reduce: expected unique dimensions, found {0,0}
%r = hlo.reduce(%f4, %f) {dimensions = array<i64: 0, 0>} to_apply {
^bb0(%a5: tensor<f32>, %b5: tensor<f32>):
  %r5 = hlo.add(%a5, %b5) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  hlo.return(%r5) : (tensor<f32>) -> ()
} : (tensor<4xf32>, tensor<f32>) -> tensor<f32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
%s = "test.op"() : () -> tensor<i32>
// CHECK: reduce: expected initial value f32[], found s32[]
%r = hlo.reduce(%f4, %s) {dimensions = array<i64: 0>} to_apply {
^bb0(%a5: tensor<f32>, %b5: tensor<f32>):
  %r5 = hlo.add(%a5, %b5) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  hlo.return(%r5) : (tensor<f32>) -> ()
} : (tensor<4xf32>, tensor<i32>) -> tensor<f32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
%f = "test.op"() : () -> tensor<f32>
// CHECK: reduce: expected to_apply to take 2 parameters, found 1
%r = hlo.reduce(%f4, %f) {dimensions = array<i64: 0>} to_apply {
^bb0(%a7: tensor<f32>):
  %r7 = hlo.negate(%a7) : (tensor<f32>) -> tensor<f32>
  hlo.return(%r7) : (tensor<f32>) -> ()
} : (tensor<4xf32>, tensor<f32>) -> tensor<f32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
%f = "test.op"() : () -> tensor<f32>
// CHECK: reduce: expected parameter 0 of to_apply to be f32[], found s32[]
%r = hlo.reduce(%f4, %f) {dimensions = array<i64: 0>} to_apply {
^bb0(%a8: tensor<i32>, %b8: tensor<i32>):
  %r8 = hlo.add(%a8, %b8) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  hlo.return(%r8) : (tensor<i32>) -> ()
} : (tensor<4xf32>, tensor<f32>) -> tensor<f32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
%f = "test.op"() : () -> tensor<f32>
// CHECK: reduce: expected to_apply to return f32[], found pred[]
%r = hlo.reduce(%f4, %f) {dimensions = array<i64: 0>} to_apply {
^bb0(%a9: tensor<f32>, %b9: tensor<f32>):
  %r9 = hlo.compare(%a9, %b9) {direction = "LT"} : (tensor<f32>, tensor<f32>) -> tensor<i1>
  hlo.return(%r9) : (tensor<i1>) -> ()
} : (tensor<4xf32>, tensor<f32>) -> tensor<f32>

// -----

%f23 = "test.op"() : () -> tensor<2x3xf32>
%f32 = "test.op"() : () -> tensor<3x2xf32>
%f = "test.op"() : () -> tensor<f32>
// CHECK: reduce: expected inputs of the same dimensions, found f32[2,3], f32[3,2]
%r = hlo.reduce(%f23, %f32, %f, %f) {dimensions = array<i64: 0>} to_apply {
^bb0(%a5: tensor<f32>, %b5: tensor<f32>):
  %r5 = hlo.add(%a5, %b5) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  hlo.return(%r5) : (tensor<f32>) -> ()
} : (tensor<2x3xf32>, tensor<3x2xf32>, tensor<f32>, tensor<f32>) -> tensor<f32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
%f = "test.op"() : () -> tensor<f32>
// CHECK: reduce: expected result f32[], found f32[4]
%r = hlo.reduce(%f4, %f) {dimensions = array<i64: 0>} to_apply {
^bb0(%a5: tensor<f32>, %b5: tensor<f32>):
  %r5 = hlo.add(%a5, %b5) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  hlo.return(%r5) : (tensor<f32>) -> ()
} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>

// -----

%f44 = "test.op"() : () -> tensor<4x4xf32>
%f = "test.op"() : () -> tensor<f32>
// CHECK: reduce-window: expected 2 window dimensions, found 1
%r = hlo.reduce_window(%f44, %f) {window = #hlo.window<"size=2">} to_apply {
^bb0(%a5: tensor<f32>, %b5: tensor<f32>):
  %r5 = hlo.add(%a5, %b5) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  hlo.return(%r5) : (tensor<f32>) -> ()
} : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
%f = "test.op"() : () -> tensor<f32>
// CHECK: reduce-window: expected a positive window stride, found 0
%r = hlo.reduce_window(%f4, %f) {window = #hlo.window<"size=2 stride=0">} to_apply {
^bb0(%a5: tensor<f32>, %b5: tensor<f32>):
  %r5 = hlo.add(%a5, %b5) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  hlo.return(%r5) : (tensor<f32>) -> ()
} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
%f = "test.op"() : () -> tensor<f32>
// CHECK: reduce-window: expected result f32[3], found f32[4]
%r = hlo.reduce_window(%f4, %f) {window = #hlo.window<"size=2">} to_apply {
^bb0(%a5: tensor<f32>, %b5: tensor<f32>):
  %r5 = hlo.add(%a5, %b5) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  hlo.return(%r5) : (tensor<f32>) -> ()
} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>

// -----

%f44 = "test.op"() : () -> tensor<4x4xf32>
%f = "test.op"() : () -> tensor<f32>
// CHECK: select-and-scatter: expected source f32[2,2], found f32[4,4]
%r = hlo.select_and_scatter(%f44, %f44, %f) {window = #hlo.window<"size=2x2 stride=2x2">} select {
^bb0(%a10: tensor<f32>, %b10: tensor<f32>):
  %r10 = hlo.compare(%a10, %b10) {direction = "GE"} : (tensor<f32>, tensor<f32>) -> tensor<i1>
  hlo.return(%r10) : (tensor<i1>) -> ()
} scatter {
^bb0(%a11: tensor<f32>, %b11: tensor<f32>):
  %r11 = hlo.add(%a11, %b11) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  hlo.return(%r11) : (tensor<f32>) -> ()
} : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>

// -----

%f44 = "test.op"() : () -> tensor<4x4xf32>
%f22 = "test.op"() : () -> tensor<2x2xf32>
%f = "test.op"() : () -> tensor<f32>
// CHECK: select-and-scatter: expected select to return pred[], found f32[]
%r = hlo.select_and_scatter(%f44, %f22, %f) {window = #hlo.window<"size=2x2 stride=2x2">} select {
^bb0(%a12: tensor<f32>, %b12: tensor<f32>):
  %r12 = hlo.add(%a12, %b12) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  hlo.return(%r12) : (tensor<f32>) -> ()
} scatter {
^bb0(%a13: tensor<f32>, %b13: tensor<f32>):
  %r13 = hlo.add(%a13, %b13) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  hlo.return(%r13) : (tensor<f32>) -> ()
} : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x4xf32>

// -----

%f44 = "test.op"() : () -> tensor<4x4xf32>
%f22 = "test.op"() : () -> tensor<2x2xf32>
%s = "test.op"() : () -> tensor<i32>
// CHECK: select-and-scatter: expected init value f32[], found s32[]
%r = hlo.select_and_scatter(%f44, %f22, %s) {window = #hlo.window<"size=2x2 stride=2x2">} select {
^bb0(%a14: tensor<f32>, %b14: tensor<f32>):
  %r14 = hlo.compare(%a14, %b14) {direction = "GE"} : (tensor<f32>, tensor<f32>) -> tensor<i1>
  hlo.return(%r14) : (tensor<i1>) -> ()
} scatter {
^bb0(%a15: tensor<f32>, %b15: tensor<f32>):
  %r15 = hlo.add(%a15, %b15) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  hlo.return(%r15) : (tensor<f32>) -> ()
} : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<i32>) -> tensor<4x4xf32>

// -----

%f44 = "test.op"() : () -> tensor<4x4xf32>
%f22 = "test.op"() : () -> tensor<2x2xf32>
%f = "test.op"() : () -> tensor<f32>
// CHECK: select-and-scatter: expected parameter 0 of scatter to be f32[], found s32[]
%r = hlo.select_and_scatter(%f44, %f22, %f) {window = #hlo.window<"size=2x2 stride=2x2">} select {
^bb0(%a16: tensor<f32>, %b16: tensor<f32>):
  %r16 = hlo.compare(%a16, %b16) {direction = "GE"} : (tensor<f32>, tensor<f32>) -> tensor<i1>
  hlo.return(%r16) : (tensor<i1>) -> ()
} scatter {
^bb0(%a17: tensor<i32>, %b17: tensor<i32>):
  %r17 = hlo.add(%a17, %b17) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  hlo.return(%r17) : (tensor<i32>) -> ()
} : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x4xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
%f = "test.op"() : () -> tensor<f32>
// CHECK: scan: expected num_carries in [0, 2], found 3
%r = hlo.scan(%f4, %f) {dimensions = array<i64: 0>, num_carries = 3 : i64} to_apply {
^bb0(%a5: tensor<f32>, %b5: tensor<f32>):
  %r5 = hlo.add(%a5, %b5) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  hlo.return(%r5) : (tensor<f32>) -> ()
} : (tensor<4xf32>, tensor<f32>) -> tuple<tensor<4xf32>, tensor<f32>>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
%f3 = "test.op"() : () -> tensor<3xf32>
%f = "test.op"() : () -> tensor<f32>
// CHECK: scan: expected inputs of one extent along {0}, found [3, 4]
%r = hlo.scan(%f4, %f3, %f) {dimensions = array<i64: 0>, num_carries = 1 : i64} to_apply {
^bb0(%a5: tensor<f32>, %b5: tensor<f32>):
  %r5 = hlo.add(%a5, %b5) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  hlo.return(%r5) : (tensor<f32>) -> ()
} : (tensor<4xf32>, tensor<3xf32>, tensor<f32>) -> tuple<tensor<4xf32>, tensor<f32>>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
%f = "test.op"() : () -> tensor<f32>
// CHECK: scan: expected a tuple, found f32[]
%r = hlo.scan(%f4, %f) {dimensions = array<i64: 0>, num_carries = 1 : i64} to_apply {
^bb0(%a5: tensor<f32>, %b5: tensor<f32>):
  %r5 = hlo.add(%a5, %b5) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  hlo.return(%r5) : (tensor<f32>) -> ()
} : (tensor<4xf32>, tensor<f32>) -> tuple<tensor<4xf32>, tensor<f32>>

// -----

// CHECK: sort: expected at least 1 operand, found 0
%r = hlo.sort() {dimensions = array<i64: 0>} to_apply {
^bb0(%a18: tensor<f32>, %b18: tensor<f32>):
  %r18 = hlo.compare(%a18, %b18) {direction = "LT"} : (tensor<f32>, tensor<f32>) -> tensor<i1>
  hlo.return(%r18) : (tensor<i1>) -> ()
} : () -> tensor<4xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: sort: expected dimension in [0, 1), found 1
%r = hlo.sort(%f4) {dimensions = array<i64: 1>} to_apply {
^bb0(%a19: tensor<f32>, %b19: tensor<f32>):
  %r19 = hlo.compare(%a19, %b19) {direction = "LT"} : (tensor<f32>, tensor<f32>) -> tensor<i1>
  hlo.return(%r19) : (tensor<i1>) -> ()
} : (tensor<4xf32>) -> tensor<4xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: sort: expected to_apply to return pred[], found f32[]
%r = hlo.sort(%f4) {dimensions = array<i64: 0>} to_apply {
^bb0(%a5: tensor<f32>, %b5: tensor<f32>):
  %r5 = hlo.add(%a5, %b5) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  hlo.return(%r5) : (tensor<f32>) -> ()
} : (tensor<4xf32>) -> tensor<4xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
%s4 = "test.op"() : () -> tensor<4xi32>
// CHECK: sort: expected to_apply to take 4 parameters, found 2
%r = hlo.sort(%f4, %s4) {dimensions = array<i64: 0>} to_apply {
^bb0(%a20: tensor<f32>, %b20: tensor<f32>):
  %r20 = hlo.compare(%a20, %b20) {direction = "LT"} : (tensor<f32>, tensor<f32>) -> tensor<i1>
  hlo.return(%r20) : (tensor<i1>) -> ()
} : (tensor<4xf32>, tensor<4xi32>) -> tuple<tensor<4xf32>, tensor<i32>>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
%f3 = "test.op"() : () -> tensor<3xf32>
// CHECK: sort: expected operands of the same dimensions, found f32[4], f32[3]
%r = hlo.sort(%f4, %f3) {dimensions = array<i64: 0>} to_apply {
^bb0(%a21: tensor<f32>, %b21: tensor<f32>):
  %r21 = hlo.compare(%a21, %b21) {direction = "LT"} : (tensor<f32>, tensor<f32>) -> tensor<i1>
  hlo.return(%r21) : (tensor<i1>) -> ()
} : (tensor<4xf32>, tensor<3xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: topk: expected k within the last dimension of f32[4], found 5
%r = hlo.topk(%f4) {k = 5 : i64} : (tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<i32>>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: topk: expected result (f32[2], s32[2]), found (f32[4], s32[])
%r = hlo.topk(%f4) {k = 2 : i64} : (tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<i32>>
