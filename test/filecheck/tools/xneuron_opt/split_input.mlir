// A boundary is a whole line; line numbers are the file's; output parts are separated as in the input.

// RUN: xneuron-opt %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

// CHECK: func.func @first
func.func @first() {
  // this is no boundary: // -----
  func.return
}

// CHECK: // -----
// -----
// CHECK: split_input.mlir:[[# @LINE + 2]]:{{[0-9]+}}
// CHECK: Expected
func.func @second( {

// CHECK: // -----
// -----
// CHECK: Expected arguments to have the same types as the function output types
func.func @third(%a: i32) {
  func.return %a : i32
}

// CHECK: // -----
// -----
// CHECK: func.func @fourth
func.func @fourth() {
  func.return
}
