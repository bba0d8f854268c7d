// RUN: xneuron-opt %s -p hlo-dce | filecheck %s

!f = tensor<f32>

// What nothing uses goes, together with what only it used, in inner computations too.

// CHECK-LABEL: @unused
// CHECK-NEXT: hlo.fusion(%x)
// CHECK-NEXT: ^bb0(%p: tensor<f32>):
// CHECK-NEXT: hlo.return(%p)
// CHECK-NOT: hlo.
func.func @unused(%x: !f) -> !f {
  %a = hlo.negate(%x) : (!f) -> !f
  %b = hlo.add(%a, %x) : (!f, !f) -> !f
  %dead = hlo.fusion(%b) {kind = "kLoop"} calls {
  ^bb0(%p: !f):
    %n = hlo.negate(%p) : (!f) -> !f
    %m = hlo.negate(%n) : (!f) -> !f
    hlo.return(%n) : (!f) -> ()
  } : (!f) -> !f
  %quiet = func.call @quiet(%b) : (!f) -> !f
  %r = hlo.fusion(%x) {kind = "kLoop"} calls {
  ^bb0(%p: !f):
    %n = hlo.negate(%p) : (!f) -> !f
    hlo.return(%p) : (!f) -> ()
  } : (!f) -> !f
  func.return %r : !f
}

// What does something stays: effects, collectives, loops, calls of them, both ends of a control dependency.

// CHECK-LABEL: @effects
// CHECK-DAG: %rng = hlo.rng
// CHECK-DAG: %sum = hlo.all_reduce
// CHECK-DAG: %loop = hlo.while
// CHECK-DAG: %call = func.call @loud
// CHECK-DAG: %marked = hlo.custom_call
// CHECK-DAG: %first = hlo.negate
// CHECK-DAG: %then = hlo.abs
// CHECK-NOT: %pure
func.func @effects(%x: !f) -> !f {
  %rng = hlo.rng(%x, %x) {distribution = "rng_uniform"} : (!f, !f) -> !f
  %sum = hlo.all_reduce(%x) to_apply {
  ^bb0(%p: !f, %q: !f):
    %s = hlo.add(%p, %q) : (!f, !f) -> !f
    hlo.return(%s) : (!f) -> ()
  } : (!f) -> !f
  %loop = hlo.while(%x) cond {
  ^bb0(%p: !f):
    %t = hlo.compare(%p, %p) {direction = "LT"} : (!f, !f) -> tensor<i1>
    hlo.return(%t) : (tensor<i1>) -> ()
  } body {
  ^bb0(%p: !f):
    hlo.return(%p) : (!f) -> ()
  } : (!f) -> !f
  %call = func.call @loud(%x) : (!f) -> !f
  %marked = hlo.custom_call(%x) {custom_call_target = "effect", custom_call_has_side_effect} : (!f) -> !f
  %pure = hlo.custom_call(%x) {custom_call_target = "none"} : (!f) -> !f
  %first = hlo.negate(%x) : (!f) -> !f
  %then = hlo.abs(%x) : (!f) -> !f
  hlo.control_dependency(%first, %then) : (!f, !f) -> ()
  func.return %x : !f
}

// Private functions go when nothing that stays calls them, not even each other.

// CHECK-NOT: @quiet
// CHECK-NOT: @ping
// CHECK-NOT: @pong
// CHECK: @loud
// CHECK: @deep
func.func private @quiet(%x: !f) -> !f {
  func.return %x : !f
}
func.func private @ping(%x: !f) -> !f {
  %r = func.call @pong(%x) : (!f) -> !f
  func.return %r : !f
}
func.func private @pong(%x: !f) -> !f {
  %r = func.call @ping(%x) : (!f) -> !f
  func.return %r : !f
}
func.func private @loud(%x: !f) -> !f {
  %r = func.call @deep(%x) : (!f) -> !f
  func.return %r : !f
}
func.func private @deep(%x: !f) -> !f {
  %rng = hlo.rng(%x, %x) {distribution = "rng_uniform"} : (!f, !f) -> !f
  func.return %rng : !f
}
