// RUN: xneuron-opt %s -t bir-text | filecheck %s --strict-whitespace --match-full-lines

bir.func @main {
  %n = bir.register "n"
  %x = bir.memory_location "x" : SB float32 [128, 4] <allocated = true>
  %c = bir.memory_location "count" : DRAM int32 [1, 1] <kind = ExternalInput>
  bir.tensor_load "ld" %n = %c
  bir.dynamic_for_loop "L" for %i "i" in range(0, 2 * %n + 1, 1) on ALL {
    bir.loop for %j "j" in range(0, 4, 2) <is_parallel = true> {
      bir.memset %x[4 * %i + %j][[4, 1], [1, 1]] <constant = 1.0> on Pool
    }
  }
  bir.do_while {
    bir.compare_and_branch IS_LTIMM(%n, 3) ^leave, ^stay
  ^leave:
    bir.break
  ^stay:
    bir.continue
  } while %n
  bir.unconditional_branch ^done
^done:
  bir.return
}

//      CHECK:function main {
// CHECK-NEXT:  register n
// CHECK-NEXT:  SB x: float32[128, 4] allocated=true
// CHECK-NEXT:  DRAM count: int32[1, 1] kind=ExternalInput
// CHECK-NEXT:  bb0:
// CHECK-NEXT:    ld: n = TensorLoad(count)
// CHECK-NEXT:    L: for(i: range(0, 2 * n + 1, 1)) @ALL {
// CHECK-NEXT:      for(j: range(0, 4, 2)) is_parallel=true {
// CHECK-NEXT:        x[4 * i + j]{{\[\[}}4, 1], [1, 1]] = Memset() constant=1.0 @Pool
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:    do {
// CHECK-NEXT:      bb0:
// CHECK-NEXT:        CompareAndBranch(n, 3) comp_op=IS_LTIMM ? leave : stay
// CHECK-NEXT:      leave:
// CHECK-NEXT:        Break()
// CHECK-NEXT:      stay:
// CHECK-NEXT:        continue
// CHECK-NEXT:    } while(n)
// CHECK-NEXT:    UnconditionalBranch() -> done
// CHECK-NEXT:  done:
// CHECK-NEXT:    Return()
// CHECK-NEXT:}
