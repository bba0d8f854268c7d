// RUN: xneuron-opt %s --parsing-diagnostics --split-input-file | filecheck %s

// CHECK: unknown value %nope
bir.func @main {
  bir.register_move %nope = 1
  bir.return
}

// -----

// CHECK: expected a memory location or a register but got type index
bir.func @main {
  bir.loop for %i "i" in range(0, 2, 1) {
    bir.register_move %i = 1
  }
  bir.return
}

// -----

// CHECK: expected integer bounds; bounds that are read at run time need bir.dynamic_for_loop
bir.func @main {
  %n = bir.register "n"
  bir.loop for %i "i" in range(0, %n, 1) {
  }
  bir.return
}

// -----

// CHECK: expected lower bound, upper bound and stride but got 2 bounds
bir.func @main {
  bir.loop for %i "i" in range(0, 1) {
  }
  bir.return
}

// -----

// CHECK: as a key of bir.memset
bir.func @main {
  %x = bir.memory_location "x" : SB float32 [128, 4]
  bir.memset %x <value = 1>
  bir.return
}

// -----

// CHECK: Expected `Unallocated`
bir.func @main {
  %x = bir.memory_location "x" : SRAM float32 [128, 4]
  bir.return
}
