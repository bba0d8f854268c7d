// RUN: xneuron-opt %s -p flatten-call-graph | filecheck %s

!f = tensor<f32>

// The first caller keeps the function, others get clones; what a clone calls is cloned too; taken names are passed by.

// CHECK-LABEL: func.func @main
// CHECK: func.call @outer(
// CHECK: func.call @outer.clone(
// CHECK: func.call @outer.clone.2(
// CHECK: func.call @once(
// CHECK: func.call @public.clone(
// CHECK: func.call @outside(
// CHECK: func.call @outside(
func.func @main(%x: !f) -> !f {
  %a = func.call @outer(%x) : (!f) -> !f
  %b = func.call @outer(%a) : (!f) -> !f
  %c = func.call @outer(%b) : (!f) -> !f
  %d = func.call @once(%c) : (!f) -> !f
  %e = func.call @public(%d) : (!f) -> !f
  %g = func.call @outside(%e) : (!f) -> !f
  %h = func.call @outside(%g) : (!f) -> !f
  %i = func.call @recursive(%h) : (!f) -> !f
  func.return %i : !f
}

// CHECK: func.func private @outer(
// CHECK: func.call @inner(
// CHECK: func.func private @outer.clone.2(
// CHECK: func.call @inner.clone
// CHECK: func.func private @outer.clone(
// CHECK: func.call @inner.clone
func.func private @outer(%x: !f) -> !f {
  %r = func.call @inner(%x) : (!f) -> !f
  func.return %r : !f
}
func.func private @inner(%x: !f) -> !f {
  %r = hlo.negate(%x) : (!f) -> !f
  func.return %r : !f
}
func.func private @once(%x: !f) -> !f {
  %r = func.call @outer.clone.1(%x) : (!f) -> !f
  func.return %r : !f
}
func.func private @outer.clone.1(%x: !f) -> !f {
  func.return %x : !f
}
// CHECK: func.func @public(
// CHECK: func.func private @public.clone(
func.func @public(%x: !f) -> !f {
  func.return %x : !f
}
func.func private @outside(!f) -> !f
// CHECK: func.func private @recursive(
// CHECK: func.call @recursive(
// CHECK-NOT: func.func
func.func private @recursive(%x: !f) -> !f {
  %r = func.call @recursive(%x) : (!f) -> !f
  func.return %r : !f
}
