// RUN: xneuron-opt %s -p while_loop_unroller --remarks 2>&1 | filecheck %s
// RUN: xneuron-opt %s -p 'tuple-while-operands,while_loop_unroller{wrap-in-trivial-loop=false}' --remarks 2>&1 | filecheck %s --check-prefix=PACKED

// Several operands are no normal form of a loop: refused, and unrolled once they are packed.

// CHECK: remark[missed/several-operands]: while_loop_unroller: w: Cannot unroll while loop w. While loop must have a single tuple operand, instead has more than one operand: 2
// CHECK: hlo.while(
// PACKED: remark[passed/unrolled-in-full]: while_loop_unroller: w: Unrolling while instruction w
// PACKED-NOT: hlo.while(

!i = tensor<i32>
func.func @main(%x: !i) -> !i {
  %zero = hlo.constant() {value = #hlo.literal<"0" : !i>} : () -> !i
  %w, %y = hlo.while(%zero, %x) cond {
  ^bb0(%i: !i, %s: !i):
    %two = hlo.constant() {value = #hlo.literal<"2" : !i>} : () -> !i
    %c = hlo.compare(%i, %two) {direction = "LT"} : (!i, !i) -> tensor<i1>
    hlo.return(%c) : (tensor<i1>) -> ()
  } body {
  ^bb0(%i: !i, %s: !i):
    %one = hlo.constant() {value = #hlo.literal<"1" : !i>} : () -> !i
    %n = hlo.add(%i, %one) : (!i, !i) -> !i
    %t = hlo.add(%s, %s) : (!i, !i) -> !i
    hlo.return(%n, %t) : (!i, !i) -> ()
  } : (!i, !i) -> (!i, !i)
  func.return %y : !i
}
