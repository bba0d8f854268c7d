// RUN: xneuron-opt %s -p canonicalize,cse,dce | filecheck %s

// xDSL's own passes know from the memory effects what may go: only storage that nobody names.

// CHECK-LABEL: bir.func @main {
bir.func @main {
  // CHECK-NEXT: %n = bir.register "n"
  %n = bir.register "n"
  // CHECK-NEXT: %m = bir.register "m"
  %m = bir.register "m"
  // CHECK-NOT: "unused"
  %unused = bir.register "unused"
  // CHECK-NEXT: %in = bir.memory_location "in" : DRAM int32 [1, 1] <kind = ExternalInput>
  %in = bir.memory_location "in" : DRAM int32 [1, 1] <kind = ExternalInput>
  // Twice the same text is two locations.
  // CHECK-NEXT: %x = bir.memory_location "x" : SB float32 [128, 4]
  %x = bir.memory_location "x" : SB float32 [128, 4]
  // CHECK-NEXT: %y = bir.memory_location "y" : SB float32 [128, 4]
  %y = bir.memory_location "y" : SB float32 [128, 4]
  // Equal instructions are not one instruction.
  // CHECK-NEXT: bir.tensor_scalar %x = %x <op0 = add, const0 = 1.0>
  // CHECK-NEXT: bir.tensor_scalar %x = %x <op0 = add, const0 = 1.0>
  bir.tensor_scalar %x = %x <op0 = add, const0 = 1.0>
  bir.tensor_scalar %x = %x <op0 = add, const0 = 1.0>
  // CHECK-NEXT: bir.memset %y
  // CHECK-NEXT: bir.memset %y
  bir.memset %y
  bir.memset %y
  // CHECK-NEXT: bir.all_engine_barrier
  // CHECK-NEXT: bir.all_engine_barrier
  bir.all_engine_barrier
  bir.all_engine_barrier
  // CHECK-NEXT: bir.dynamic_for_loop for %i "i" in range(0, %n, 1) {
  // CHECK-NEXT:   bir.register_alu %m = add(%m, 1)
  // CHECK-NEXT:   bir.register_alu %m = add(%m, 1)
  // CHECK-NEXT: }
  bir.dynamic_for_loop for %i "i" in range(0, %n, 1) {
    bir.register_alu %m = add(%m, 1)
    bir.register_alu %m = add(%m, 1)
  }
  // It may never end, so it stays.
  // CHECK-NEXT: bir.do_while {
  // CHECK-NEXT: } while %n
  bir.do_while {
  } while %n
  // CHECK-NEXT: bir.return
  bir.return
}
