// RUN: xneuron-opt %s | xneuron-opt | filecheck %s

// The first block of a region prints no label of its own; its name stands in front. (xDSL's generic form drops it.)

// CHECK: bir.func @main attributes {note = 1 : i32} label "b0" {
bir.func @main attributes {note = 1 : i32} label "b0" {
  %n = bir.register "n"
  // CHECK: bir.do_while label "again" {
  bir.do_while label "again" {
  } while %n
  // CHECK: bir.unconditional_branch ^b1
  bir.unconditional_branch ^b1
// CHECK: ^b1:
^b1:
  bir.return
}
