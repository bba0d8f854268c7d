// Options of xdsl-opt mean what they mean there; what is not the result goes to stderr.

// RUN: xneuron-opt %s -p cse,dce --print-between-passes --time-passes 2> %t.err | filecheck %s
// RUN: filecheck %s --input-file=%t.err --check-prefix=STDERR
// RUN: xneuron-opt %s --print-op-generic | filecheck %s --check-prefix=GENERIC
// RUN: xneuron-opt %s -o %t.out > %t.empty
// RUN: diff %t.empty /dev/null
// RUN: filecheck %s --input-file=%t.out --check-prefix=FILE
// RUN: xneuron-opt --version | filecheck %s --check-prefix=VERSION
// RUN: xneuron-opt %s -t mlir -f mlir | filecheck %s --check-prefix=FILE
// RUN: xneuron-opt < %s | filecheck %s --check-prefix=FILE
// RUN: xneuron-opt %s > %t.ours
// RUN: xdsl-opt %s | diff - %t.ours

func.func @f(%a: i32) -> i32 {
  %0 = arith.addi %a, %a : i32
  %1 = arith.addi %a, %a : i32
  %2 = arith.muli %0, %1 : i32
  func.return %0 : i32
}

// CHECK:      builtin.module {
// CHECK-NEXT:   func.func @f(%a: i32) -> i32 {
// CHECK-NEXT:     %0 = arith.addi %a, %a : i32
// CHECK-NEXT:     func.return %0 : i32
// CHECK-NOT:  builtin.module

// STDERR:      Pass cse took {{[0-9.e-]+}} seconds
// STDERR-NEXT: IR after cse:
// STDERR:        %0 = arith.addi %a, %a
// STDERR:      Pass dce took {{[0-9.e-]+}} seconds

// GENERIC: "arith.addi"(%a, %a)
// FILE: arith.muli
// VERSION: xneuron-opt {{[0-9.]+}} (xdsl 0.75.0)
