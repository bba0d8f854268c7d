// RUN: xneuron-opt %s -p neuron_add_boundary_marker --remarks 2>&1 | filecheck %s
// RUN: env NEURON_DISABLE_BOUNDARY_MARKER=1 xneuron-opt %s -p neuron_add_boundary_marker | filecheck %s --check-prefix=ASKED
// RUN: xneuron-opt %s -p neuron_add_boundary_marker,boundary-marker-removal | filecheck %s --check-prefix=GONE

!i = tensor<i32>

// The numbers go on from the largest in the module, innermost loops first.

// CHECK: remark[passed/loop-marked]: neuron_add_boundary_marker: inner: marked the body (boundary_count=8)
// CHECK: remark[passed/loop-marked]: neuron_add_boundary_marker: outer: marked the body (boundary_count=9)
// CHECK: remark[missed/loop-not-marked]: neuron_add_boundary_marker: marked: the body ends in a boundary marker already
// CHECK: remark[missed/loop-not-marked]: neuron_add_boundary_marker: two: the loop must have a single operand

// Other uses of the root take the marked value; a parameter can be the root. Asked for by name, the pass does not look at
// the environment.

// CHECK-LABEL: @nested
// CHECK: %outer = hlo.while
// CHECK: %inner = hlo.while
// CHECK: ^bb0(%q: tensor<i32>):
// CHECK-NEXT: %[[S:.*]] = hlo.custom_call(%q) {custom_call_target = "NeuronBoundaryMarker-Start", api_version = "API_VERSION_STATUS_RETURNING", backend_config = "boundaryCount=8"}
// CHECK-NEXT: %[[E:.*]] = hlo.custom_call(%[[S]]) {custom_call_target = "NeuronBoundaryMarker-End", api_version = "API_VERSION_STATUS_RETURNING", backend_config = "boundaryCount=8"}
// CHECK-NEXT: hlo.return(%[[E]])
// CHECK: %next = hlo.add(%inner, %inner)
// CHECK-NEXT: %[[S9:.*]] = hlo.custom_call(%next) {custom_call_target = "NeuronBoundaryMarker-Start", {{.*}} "boundaryCount=9"}
// CHECK-NEXT: hlo.custom_call(%[[S9]]) {custom_call_target = "log"
// CHECK-NEXT: %[[E9:.*]] = hlo.custom_call(%[[S9]]) {custom_call_target = "NeuronBoundaryMarker-End", {{.*}} "boundaryCount=9"}
// CHECK-NEXT: hlo.return(%[[E9]])
// ASKED-LABEL: @nested
// ASKED: boundaryCount=8
// GONE-LABEL: @nested
// GONE: hlo.return(%q)
// GONE: %next = hlo.add(%inner, %inner)
// GONE: hlo.custom_call(%next) {custom_call_target = "log"
// GONE-NEXT: hlo.return(%next)
// GONE-NOT: NeuronBoundaryMarker
func.func @nested(%a: !i) -> !i {
  %outer = hlo.while(%a) cond {
  ^bb0(%x: !i):
    %c = hlo.compare(%x, %x) {direction = "LT"} : (!i, !i) -> tensor<i1>
    hlo.return(%c) : (tensor<i1>) -> ()
  } body {
  ^bb0(%u: !i):
    %inner = hlo.while(%u) cond {
    ^bb0(%p: !i):
      %d = hlo.compare(%p, %p) {direction = "LT"} : (!i, !i) -> tensor<i1>
      hlo.return(%d) : (tensor<i1>) -> ()
    } body {
    ^bb0(%q: !i):
      hlo.return(%q) : (!i) -> ()
    } : (!i) -> !i
    %next = hlo.add(%inner, %inner) : (!i, !i) -> !i
    %log = hlo.custom_call(%next) {custom_call_target = "log", custom_call_has_side_effect} : (!i) -> !i
    hlo.return(%next) : (!i) -> ()
  } : (!i) -> !i
  func.return %outer : !i
}

// CHECK-LABEL: @refused
// CHECK-COUNT-2: boundaryCount=7
// CHECK-NOT: NeuronBoundaryMarker
func.func @refused(%a: !i) -> !i {
  %marked = hlo.while(%a) cond {
  ^bb0(%x: !i):
    %c = hlo.compare(%x, %x) {direction = "LT"} : (!i, !i) -> tensor<i1>
    hlo.return(%c) : (tensor<i1>) -> ()
  } body {
  ^bb0(%u: !i):
    %s = hlo.custom_call(%u) {custom_call_target = "NeuronBoundaryMarker-Start", backend_config = "boundaryCount=7"} : (!i) -> !i
    %e = hlo.custom_call(%s) {custom_call_target = "NeuronBoundaryMarker-End", backend_config = "boundaryCount=7"} : (!i) -> !i
    hlo.return(%e) : (!i) -> ()
  } : (!i) -> !i
  %two, %three = hlo.while(%a, %a) cond {
  ^bb0(%x: !i, %y: !i):
    %c = hlo.compare(%x, %x) {direction = "LT"} : (!i, !i) -> tensor<i1>
    hlo.return(%c) : (tensor<i1>) -> ()
  } body {
  ^bb0(%u: !i, %v: !i):
    hlo.return(%u, %v) : (!i, !i) -> ()
  } : (!i, !i) -> (!i, !i)
  func.return %marked : !i
}
