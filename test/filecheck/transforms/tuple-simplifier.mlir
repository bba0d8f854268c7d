// RUN: xneuron-opt %s -p tuple-simplifier,hlo-dce --split-input-file | filecheck %s
// RUN: xneuron-opt %s -p 'tuple-simplifier{exclude_entry=true}' --split-input-file | filecheck %s --check-prefix=INNER
// RUN: xneuron-opt %s -p 'tuple-simplifier{keep_loop_operands=true}' --split-input-file | filecheck %s --check-prefix=KEEP

!f = tensor<f32>
!pair = tuple<tensor<f32>, tensor<f32>>

// An element is taken from where the tuple got it, through nested tuples too.

// CHECK-LABEL: @elements
// CHECK-NEXT: hlo.subtract(%b, %a)
// CHECK-NEXT: func.return
// INNER-LABEL: @elements
// INNER: hlo.get_tuple_element
func.func @elements(%a: !f, %b: !f) -> !f {
  %inner = hlo.tuple(%a, %b) : (!f, !f) -> !pair
  %outer = hlo.tuple(%b, %inner) : (!f, !pair) -> tuple<tensor<f32>, tuple<tensor<f32>, tensor<f32>>>
  %x = hlo.get_tuple_element(%outer) {index = 0 : i64} : (tuple<tensor<f32>, tuple<tensor<f32>, tensor<f32>>>) -> !f
  %t = hlo.get_tuple_element(%outer) {index = 1 : i64} : (tuple<tensor<f32>, tuple<tensor<f32>, tensor<f32>>>) -> !pair
  %y = hlo.get_tuple_element(%t) {index = 0 : i64} : (!pair) -> !f
  %d = hlo.subtract(%x, %y) : (!f, !f) -> !f
  func.return %d : !f
}

// A tuple of all elements of a tuple, in order, is that tuple.

// CHECK-LABEL: @repacked
// CHECK-NEXT: func.return %t
func.func @repacked(%t: !pair) -> !pair {
  %x = hlo.get_tuple_element(%t) {index = 0 : i64} : (!pair) -> !f
  %y = hlo.get_tuple_element(%t) {index = 1 : i64} : (!pair) -> !f
  %u = hlo.tuple(%x, %y) : (!f, !f) -> !pair
  func.return %u : !pair
}

// Swapped elements, a part of the elements, elements of two tuples, and the empty tuple are something else.

// CHECK-LABEL: @swapped
// CHECK: hlo.tuple(%y, %x)
func.func @swapped(%t: !pair) -> !pair {
  %x = hlo.get_tuple_element(%t) {index = 0 : i64} : (!pair) -> !f
  %y = hlo.get_tuple_element(%t) {index = 1 : i64} : (!pair) -> !f
  %u = hlo.tuple(%y, %x) : (!f, !f) -> !pair
  func.return %u : !pair
}

// CHECK-LABEL: @prefix
// CHECK: hlo.tuple(%x)
func.func @prefix(%t: !pair) -> tuple<tensor<f32>> {
  %x = hlo.get_tuple_element(%t) {index = 0 : i64} : (!pair) -> !f
  %u = hlo.tuple(%x) : (!f) -> tuple<tensor<f32>>
  func.return %u : tuple<tensor<f32>>
}

// CHECK-LABEL: @of_two
// CHECK: hlo.tuple(%x, %y)
func.func @of_two(%t: !pair, %s: !pair) -> !pair {
  %x = hlo.get_tuple_element(%t) {index = 0 : i64} : (!pair) -> !f
  %y = hlo.get_tuple_element(%s) {index = 1 : i64} : (!pair) -> !f
  %u = hlo.tuple(%x, %y) : (!f, !f) -> !pair
  func.return %u : !pair
}

// CHECK-LABEL: @empty
// CHECK: hlo.tuple()
func.func @empty() -> tuple<> {
  %u = hlo.tuple() : () -> tuple<>
  func.return %u : tuple<>
}

// Shardings that disagree stay apart; one that the new value lacks passes on to it.

// CHECK-LABEL: @sharded
// CHECK: %x = hlo.negate(%a) {sharding = #hlo.sharding<"{replicated}">}
// CHECK: %e = hlo.get_tuple_element
// CHECK: %y = hlo.negate(%a) {sharding = #hlo.sharding<"{manual}">}
// CHECK: hlo.add(%e, %y)
func.func @sharded(%a: !f) -> !f {
  %x = hlo.negate(%a) {sharding = #hlo.sharding<"{replicated}">} : (!f) -> !f
  %t = hlo.tuple(%x) : (!f) -> tuple<tensor<f32>>
  %e = hlo.get_tuple_element(%t) {index = 0 : i64, sharding = #hlo.sharding<"{manual}">} : (tuple<tensor<f32>>) -> !f
  %y = hlo.negate(%a) : (!f) -> !f
  %s = hlo.tuple(%y) : (!f) -> tuple<tensor<f32>>
  %g = hlo.get_tuple_element(%s) {index = 0 : i64, sharding = #hlo.sharding<"{manual}">} : (tuple<tensor<f32>>) -> !f
  %z = hlo.add(%e, %g) : (!f, !f) -> !f
  func.return %z : !f
}

// What comes after an element comes after what takes its place; an element that itself waits stays.

// CHECK-LABEL: @ordered
// CHECK: %n = hlo.negate(%b)
// CHECK: hlo.control_dependency(%a, %n)
// CHECK: %w = hlo.get_tuple_element
// CHECK: hlo.control_dependency(%n, %w)
func.func @ordered(%a: !f, %b: !f) -> !f {
  %t = hlo.tuple(%a, %b) : (!f, !f) -> !pair
  %x = hlo.get_tuple_element(%t) {index = 0 : i64} : (!pair) -> !f
  %n = hlo.negate(%b) : (!f) -> !f
  hlo.control_dependency(%x, %n) : (!f, !f) -> ()
  %w = hlo.get_tuple_element(%t) {index = 1 : i64} : (!pair) -> !f
  hlo.control_dependency(%n, %w) : (!f, !f) -> ()
  func.return %w : !f
}

// A loop's own tuple may be kept: a loop needs one to be unrolled.

// CHECK-LABEL: @loop
// CHECK-NEXT: hlo.while(%t)
// KEEP-LABEL: @loop
// KEEP: %u = hlo.tuple(%x, %y)
// KEEP-NEXT: hlo.while(%u)
func.func @loop(%t: !pair) -> !pair {
  %x = hlo.get_tuple_element(%t) {index = 0 : i64} : (!pair) -> !f
  %y = hlo.get_tuple_element(%t) {index = 1 : i64} : (!pair) -> !f
  %u = hlo.tuple(%x, %y) : (!f, !f) -> !pair
  %w = hlo.while(%u) cond {
  ^bb0(%p: !pair):
    %c = hlo.constant() {value = #hlo.literal<"false" : tensor<i1>>} : () -> tensor<i1>
    hlo.return(%c) : (tensor<i1>) -> ()
  } body {
  ^bb0(%q: !pair):
    hlo.return(%q) : (!pair) -> ()
  } : (!pair) -> !pair
  func.return %w : !pair
}

// Without the entry, only other computations change.

// INNER-LABEL: func.func private @called
// INNER-NEXT: func.return %a
func.func private @called(%a: !f, %b: !f) -> !f {
  %t = hlo.tuple(%a, %b) : (!f, !f) -> !pair
  %x = hlo.get_tuple_element(%t) {index = 0 : i64} : (!pair) -> !f
  func.return %x : !f
}
