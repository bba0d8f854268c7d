// RUN: not xneuron-run %s 2>&1 | filecheck %s
// RUN: not xneuron-run %s --register n=3 --random 0 --max-iterations 2 2>&1 | filecheck %s --check-prefix LIMIT
// RUN: not xneuron-run %s --register n=9 --random 0 2>&1 | filecheck %s --check-prefix BOUNDS
// RUN: not xneuron-run %s --random 0 --strict 2>&1 | filecheck %s --check-prefix STRICT
// RUN: not xneuron-run %s --register m=3 2>&1 | filecheck %s --check-prefix NAME
// RUN: not xneuron-run %s --register n=three 2>&1 | filecheck %s --check-prefix VALUE
// RUN: not xneuron-run %s --random 0 --register n=4294967296 2>&1 | filecheck %s --check-prefix WIDE
// RUN: not xneuron-run %s --symbol other 2>&1 | filecheck %s --check-prefix SYMBOL
// RUN: not xneuron-run %S/../../../../examples/decoder.hlo --register n=3 2>&1 | filecheck %s --check-prefix HLO

// CHECK:  xneuron-run: error: the program takes (x: s32[1,4]): give --inputs FILE.npz or --random SEED
// LIMIT:  error: loop 'i' did not end after 2 iterations (with n = 3, c = {{.*}})
// BOUNDS: error: bir.tensor_load: the access covers elements 4 to 4 of the 4 of 'x' (at i = 4, with n = 9, c = {{.*}})
// STRICT: error: bir.dynamic_for_loop 'i': register 'n' is read before it is written (with n = unwritten, c = unwritten)
// NAME:   xneuron-run: error: --register m=3: no register 'm'
// VALUE:  xneuron-run: error: expected --register NAME=VALUE with an integer, found 'n=three'
// WIDE:   error: register 'n': expected a value of 32 bits, found 4294967296
// SYMBOL: error: expected a function 'other', found main
// HLO:    xneuron-run: error: --register is for BIR programs, found no bir.func

bir.func @main {
  %n = bir.register "n"
  %c = bir.register "c"
  %x = bir.memory_location "x" : DRAM int32 [1, 4] <kind = ExternalInput>
  bir.dynamic_for_loop for %i "i" in range(0, %n, 1) {
    bir.tensor_load %c = %x[%i][[1, 1]]
  }
  bir.return
}
