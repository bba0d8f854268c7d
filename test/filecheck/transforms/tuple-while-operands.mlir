// RUN: xneuron-opt %s -p tuple-while-operands --remarks 2>&1 | filecheck %s

!i = tensor<i32>

// CHECK: remark[passed/loop-state-packed]: tuple-while-operands: inner: packed the operands into one tuple (operands=2)
// CHECK: remark[passed/loop-state-packed]: tuple-while-operands: r: packed the operands into one tuple (operands=2)
// CHECK: remark[passed/loop-state-packed]: tuple-while-operands: hlo.while: packed the operands into one tuple (operands=0)

// CHECK-LABEL: @two
// CHECK:      %[[T:.*]] = hlo.tuple(%a, %b) : (tensor<i32>, tensor<i32>) -> tuple<tensor<i32>, tensor<i32>>
// CHECK-NEXT: %r = hlo.while(%[[T]]) {computations = [#hlo.computation<"cond", {}>, #hlo.computation<"body", {execution_thread = "x"}>], backend_config = "{}"} cond {
// CHECK-NEXT: ^bb0(%[[P:.*]]: tuple<tensor<i32>, tensor<i32>>):
// CHECK-NEXT:   %[[X:.*]] = hlo.get_tuple_element(%[[P]]) {index = 0 : i64}
// CHECK-NEXT:   hlo.compare(%[[X]], %[[X]])
// CHECK:      } body {
// CHECK:        %[[U:.*]] = hlo.get_tuple_element(%{{.*}}) {index = 0 : i64}
// CHECK-NEXT:   %[[V:.*]] = hlo.get_tuple_element(%{{.*}}) {index = 1 : i64}
// CHECK-NEXT:   %[[I:.*]] = hlo.tuple(%[[V]], %[[U]])
// CHECK-NEXT:   %inner = hlo.while(%[[I]])
// CHECK:        %[[IV:.*]] = hlo.get_tuple_element(%inner) {index = 1 : i64}
// CHECK-NEXT:   %[[ROOT:.*]] = hlo.tuple(%[[IV]], %[[U]])
// CHECK-NEXT:   hlo.return(%[[ROOT]])
// CHECK:      %[[R:.*]] = hlo.get_tuple_element(%r) {index = 1 : i64}
// CHECK-NEXT: func.return %[[R]]
func.func @two(%a: !i, %b: !i) -> !i {
  %r, %s = hlo.while(%a, %b) {computations = [#hlo.computation<"cond", {parameters = [{}, {}]}>, #hlo.computation<"body", {execution_thread = "x"}>], backend_config = "{}"} cond {
  ^bb0(%x: !i, %y: !i):
    %c = hlo.compare(%x, %x) {direction = "LT"} : (!i, !i) -> tensor<i1>
    hlo.return(%c) : (tensor<i1>) -> ()
  } body {
  ^bb0(%u: !i, %v: !i):
    %inner, %inner2 = hlo.while(%v, %u) cond {
    ^bb0(%x2: !i, %y2: !i):
      %c2 = hlo.compare(%x2, %y2) {direction = "LT"} : (!i, !i) -> tensor<i1>
      hlo.return(%c2) : (tensor<i1>) -> ()
    } body {
    ^bb0(%u2: !i, %v2: !i):
      hlo.return(%v2, %u2) : (!i, !i) -> ()
    } : (!i, !i) -> (!i, !i)
    hlo.return(%inner2, %u) : (!i, !i) -> ()
  } : (!i, !i) -> (!i, !i)
  func.return %s : !i
}

// No state at all is an empty tuple; one operand is in normal form already.

// CHECK-LABEL: @none_and_one
// CHECK: hlo.tuple() : () -> tuple<>
// CHECK: hlo.while(%{{.*}}) cond
// CHECK: hlo.while(%a) cond
func.func @none_and_one(%a: !i) -> !i {
  hlo.while() cond {
    %t = hlo.constant() {value = #hlo.literal<"false" : tensor<i1>>} : () -> tensor<i1>
    hlo.return(%t) : (tensor<i1>) -> ()
  } body {
    hlo.return() : () -> ()
  } : () -> ()
  %w = hlo.while(%a) cond {
  ^bb0(%x: !i):
    %c = hlo.compare(%x, %x) {direction = "LT"} : (!i, !i) -> tensor<i1>
    hlo.return(%c) : (tensor<i1>) -> ()
  } body {
  ^bb0(%u: !i):
    hlo.return(%u) : (!i) -> ()
  } : (!i) -> !i
  func.return %w : !i
}
