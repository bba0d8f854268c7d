// RUN: xneuron-opt %s -p while-loop-constant-sinking --remarks 2>&1 | filecheck %s
// RUN: xneuron-opt %s -p 'while-loop-constant-sinking{sink_broadcast_of_constants=true}' | filecheck %s --check-prefix=BROADCAST
// RUN: xneuron-opt %s -p 'while-loop-constant-sinking{sink_only_scalar_constants=true}' | filecheck %s --check-prefix=SCALAR

!i = tensor<i32>
!v = tensor<2xi32>
!state = tuple<tensor<i32>, tensor<i32>, tensor<2xi32>, tensor<2xi32>>

// CHECK: remark[passed/constants-sunk]: while-loop-constant-sinking: w: sank constants (constants=3)
// CHECK: remark[passed/constants-sunk]: while-loop-constant-sinking: outer: sank constants (constants=1)
// CHECK: remark[passed/constants-sunk]: while-loop-constant-sinking: inner: sank constants (constants=1)
// CHECK: remark[missed/sinking-needs-tuple]: while-loop-constant-sinking: bare: operand or body root is not a tuple instruction

// Slot 1, a scalar, is used in both computations; slot 2 is a vector constant, slot 3 a broadcast of one.

// CHECK-LABEL: @loop
// CHECK:      hlo.while(%t) cond {
// CHECK-NEXT: ^bb0(%p:
// CHECK-NEXT:   %two.sunk = hlo.constant() {value = #hlo.literal<"2" : tensor<i32>>}
// CHECK-NEXT:   %i = hlo.get_tuple_element(%p) {index = 0 : i64}
// CHECK-NEXT:   hlo.compare(%i, %two.sunk)
// CHECK:      } body {
// CHECK:        %vector.sunk = hlo.constant()
// CHECK:        %[[TWO:.*]] = hlo.constant() {value = #hlo.literal<"2" : tensor<i32>>}
// CHECK:        %k = hlo.get_tuple_element(%q) {index = 1 : i64}
// CHECK:        %v = hlo.get_tuple_element(%q) {index = 2 : i64}
// CHECK:        %b = hlo.get_tuple_element(%q) {index = 3 : i64}
// CHECK:        %next = hlo.add(%j, %[[TWO]])
// CHECK:        %sum = hlo.add(%vector.sunk, %b)
// CHECK:        %root = hlo.tuple(%next, %k, %v, %b)
// BROADCAST-LABEL: @loop
// BROADCAST:  hlo.while(%t)
// BROADCAST:  } body {
// BROADCAST:    %[[C:.*]] = hlo.constant() {value = #hlo.literal<"2" : tensor<i32>>}
// BROADCAST-NEXT: %spread.sunk = hlo.broadcast(%[[C]])
// BROADCAST:    %sum = hlo.add(%vector.sunk, %spread.sunk)
// SCALAR-LABEL: @loop
// SCALAR:       %next = hlo.add(%j, %two.sunk_1)
// SCALAR:       %sum = hlo.add(%v, %b)
func.func @loop(%start: !i) -> !state {
  %two = hlo.constant() {value = #hlo.literal<"2" : tensor<i32>>} : () -> !i
  %vector = hlo.constant() {value = #hlo.literal<["1", "2"] : tensor<2xi32>>} : () -> !v
  %spread = hlo.broadcast(%two) {dimensions = array<i64>} : (!i) -> !v
  %t = hlo.tuple(%start, %two, %vector, %spread) : (!i, !i, !v, !v) -> !state
  %w = hlo.while(%t) cond {
  ^bb0(%p: !state):
    %i = hlo.get_tuple_element(%p) {index = 0 : i64} : (!state) -> !i
    %n = hlo.get_tuple_element(%p) {index = 1 : i64} : (!state) -> !i
    %c = hlo.compare(%i, %n) {direction = "LT"} : (!i, !i) -> tensor<i1>
    hlo.return(%c) : (tensor<i1>) -> ()
  } body {
  ^bb0(%q: !state):
    %j = hlo.get_tuple_element(%q) {index = 0 : i64} : (!state) -> !i
    %k = hlo.get_tuple_element(%q) {index = 1 : i64} : (!state) -> !i
    %v = hlo.get_tuple_element(%q) {index = 2 : i64} : (!state) -> !v
    %b = hlo.get_tuple_element(%q) {index = 3 : i64} : (!state) -> !v
    %next = hlo.add(%j, %k) : (!i, !i) -> !i
    %sum = hlo.add(%v, %b) : (!v, !v) -> !v
    %root = hlo.tuple(%next, %k, %v, %b) : (!i, !i, !v, !v) -> !state
    hlo.return(%root) : (!state) -> ()
  } : (!state) -> !state
  func.return %w : !state
}

// A constant goes through the outer loop into the inner one, in one run, also where the root stands behind markers.

!two = tuple<tensor<i32>, tensor<i32>>

// CHECK-LABEL: @nested
// CHECK: %outer = hlo.while
// CHECK: %five.sunk = hlo.constant()
// CHECK: %inner = hlo.while
// CHECK: %five.sunk.sunk = hlo.constant()
// CHECK: hlo.add(%i2, %five.sunk.sunk)
func.func @nested(%start: !i) -> !two {
  %five = hlo.constant() {value = #hlo.literal<"5" : tensor<i32>>} : () -> !i
  %t = hlo.tuple(%start, %five) : (!i, !i) -> !two
  %outer = hlo.while(%t) cond {
  ^bb0(%p: !two):
    %i = hlo.get_tuple_element(%p) {index = 0 : i64} : (!two) -> !i
    %c = hlo.compare(%i, %i) {direction = "LT"} : (!i, !i) -> tensor<i1>
    hlo.return(%c) : (tensor<i1>) -> ()
  } body {
  ^bb0(%q: !two):
    %j = hlo.get_tuple_element(%q) {index = 0 : i64} : (!two) -> !i
    %k = hlo.get_tuple_element(%q) {index = 1 : i64} : (!two) -> !i
    %t1 = hlo.tuple(%j, %k) : (!i, !i) -> !two
    %inner = hlo.while(%t1) cond {
    ^bb0(%p1: !two):
      %i1 = hlo.get_tuple_element(%p1) {index = 0 : i64} : (!two) -> !i
      %c1 = hlo.compare(%i1, %i1) {direction = "LT"} : (!i, !i) -> tensor<i1>
      hlo.return(%c1) : (tensor<i1>) -> ()
    } body {
    ^bb0(%q2: !two):
      %i2 = hlo.get_tuple_element(%q2) {index = 0 : i64} : (!two) -> !i
      %k2 = hlo.get_tuple_element(%q2) {index = 1 : i64} : (!two) -> !i
      %next = hlo.add(%i2, %k2) : (!i, !i) -> !i
      %root2 = hlo.tuple(%next, %k2) : (!i, !i) -> !two
      %start2 = hlo.custom_call(%root2) {custom_call_target = "NeuronBoundaryMarker-Start"} : (!two) -> !two
      %end2 = hlo.custom_call(%start2) {custom_call_target = "NeuronBoundaryMarker-End"} : (!two) -> !two
      hlo.return(%end2) : (!two) -> ()
    } : (!two) -> !two
    %last = hlo.get_tuple_element(%inner) {index = 0 : i64} : (!two) -> !i
    %root = hlo.tuple(%last, %k) : (!i, !i) -> !two
    hlo.return(%root) : (!two) -> ()
  } : (!two) -> !two
  func.return %outer : !two
}

// A slot that changes, one whose element waits for another instruction, and a state that is no tuple stay.

// CHECK-LABEL: @left_alone
// CHECK-NOT: .sunk
func.func @left_alone(%start: !i) -> !two {
  %one = hlo.constant() {value = #hlo.literal<"1" : tensor<i32>>} : () -> !i
  %t = hlo.tuple(%one, %one) : (!i, !i) -> !two
  %w = hlo.while(%t) cond {
  ^bb0(%p: !two):
    %i = hlo.get_tuple_element(%p) {index = 0 : i64} : (!two) -> !i
    %c = hlo.compare(%i, %i) {direction = "LT"} : (!i, !i) -> tensor<i1>
    hlo.return(%c) : (tensor<i1>) -> ()
  } body {
  ^bb0(%q: !two):
    %j = hlo.get_tuple_element(%q) {index = 0 : i64} : (!two) -> !i
    %k = hlo.get_tuple_element(%q) {index = 1 : i64} : (!two) -> !i
    hlo.control_dependency(%j, %k) : (!i, !i) -> ()
    %next = hlo.add(%j, %k) : (!i, !i) -> !i
    %root = hlo.tuple(%next, %k) : (!i, !i) -> !two
    hlo.return(%root) : (!two) -> ()
  } : (!two) -> !two
  %bare = hlo.while(%start) cond {
  ^bb0(%x: !i):
    %cx = hlo.compare(%x, %x) {direction = "LT"} : (!i, !i) -> tensor<i1>
    hlo.return(%cx) : (tensor<i1>) -> ()
  } body {
  ^bb0(%y: !i):
    hlo.return(%y) : (!i) -> ()
  } : (!i) -> !i
  func.return %w : !two
}
