// RUN: xneuron-opt %s -p bir-lower-loops-to-branches | filecheck %s
// RUN: xneuron-opt %s -p bir-lower-loops-to-branches --remarks -o %t 2>&1 | filecheck %s --check-prefix=REMARK

// REMARK: remark[passed/loop-lowered-to-branches]: bir-lower-loops-to-branches: bir.dynamic_for_loop: lowered to branches (axis=i, bound=runtime)

// A bound that is the register itself: guard and bottom test compare with a copy of it.
// CHECK-LABEL: bir.func @plain attributes {bir.axis_regs = [{axis = "i", counter = "i", limit = "i.limit"}]} {
bir.func @plain {
  // CHECK-NEXT: %n = bir.register "n"
  // CHECK-NEXT: %x = bir.memory_location
  // CHECK-NEXT: %i.limit = bir.register "i.limit"
  // CHECK-NEXT: %i = bir.register "i"
  %n = bir.register "n"
  %x = bir.memory_location "x" : SB float32 [128, 512]
  // CHECK-NEXT: bir.register_move %i.limit = %n on ALL
  // CHECK-NEXT: bir.register_move %i = 0 on ALL
  // CHECK-NEXT: bir.compare_and_branch IS_LTREG(%i, %i.limit) ^i.body, ^i.exit
  // CHECK-NEXT: ^i.body:
  bir.dynamic_for_loop for %i "i" in range(0, %n, 1) {
    // CHECK-NEXT: bir.memset %x[4 * %i]{{\[\[}}512, 128], [1, 4]]
    bir.memset %x[4 * %i][[512, 128], [1, 4]]
    // The limit was read once: this changes nothing.
    // CHECK-NEXT: bir.register_move %n = 0
    bir.register_move %n = 0
    // CHECK-NEXT: bir.register_alu %i = add(%i, 1) on ALL
    // CHECK-NEXT: bir.compare_and_branch IS_LTREG(%i, %i.limit) ^i.body, ^i.exit
  }
  // CHECK-NEXT: ^i.exit:
  // CHECK-NEXT: bir.return
  bir.return
}

// A coefficient and a constant: the guard asks the register, which cannot wrap; the counter meets the limit.
// CHECK-LABEL: bir.func @affine
bir.func @affine {
  %n = bir.register "n"
  // CHECK:      bir.register_move %i.limit = %n on SP
  // CHECK-NEXT: bir.register_alu %i.limit = mult(%i.limit, -4) on SP
  // CHECK-NEXT: bir.register_alu %i.limit = add(%i.limit, 7) on SP
  // CHECK-NEXT: bir.register_move %i = 2 on SP
  // 7 - 4 * n >= 2 + 2**32: the counter would meet the limit too early.
  // CHECK-NEXT: bir.compare_and_branch IS_LEIMM(%n, -1073741823) ^i.overflow, ^i.guard
  // CHECK-NEXT: ^i.guard:
  // 2 < 7 - 4 * n
  // CHECK-NEXT: bir.compare_and_branch IS_LTIMM(%n, 2) ^i.body, ^i.exit
  // CHECK-NEXT: ^i.body:
  // CHECK-NEXT: bir.no_op
  // CHECK-NEXT: bir.register_alu %i = add(%i, 1) on SP
  // CHECK-NEXT: bir.compare_and_branch IS_NEREG(%i, %i.limit) ^i.body, ^i.exit
  bir.dynamic_for_loop for %i "i" in range(2, -4 * %n + 7, 1) on SP {
    bir.no_op
  }
  // CHECK-NEXT: ^i.exit:
  // CHECK-NEXT: bir.return
  // CHECK-NEXT: ^i.overflow:
  // CHECK-NEXT: bir.exit
  bir.return
}

// A stride: the limit is rounded up to where the counter ends.
// CHECK-LABEL: bir.func @stride
bir.func @stride {
  %n = bir.register "n"
  // CHECK:      bir.register_move %i.limit = %n on ALL
  // CHECK-NEXT: bir.register_alu %i.limit = subtract(%i.limit, 4) on ALL
  // CHECK-NEXT: bir.register_alu %i.limit : uint32 = divide(%i.limit : uint32, 5 : uint32) on ALL
  // CHECK-NEXT: bir.register_alu %i.limit = mult(%i.limit, 5) on ALL
  // CHECK-NEXT: bir.register_alu %i.limit = add(%i.limit, 8) on ALL
  // CHECK-NEXT: bir.register_move %i = 3 on ALL
  // CHECK-NEXT: bir.compare_and_branch IS_GTIMM(%n, 3) ^L.body, ^i.exit
  // CHECK-NEXT: ^L.body:
  bir.dynamic_for_loop for %i "i" in range(3, %n, 5) label "L.body" {
  }
  bir.return
}

// Static loops compare with an immediate, or are gone; a scheduling unit is just its body.
// CHECK-LABEL: bir.func @static
bir.func @static {
  %n = bir.register "n"
  // CHECK:      bir.register_move %i = 1 on ALL
  // CHECK-NEXT: bir.unconditional_branch ^i.body
  // CHECK-NEXT: ^i.body:
  // CHECK-NEXT: bir.register_move %n = 1
  // CHECK-NEXT: bir.register_alu %i = add(%i, 3) on ALL
  // CHECK-NEXT: bir.compare_and_branch IS_LTIMM(%i, 8) ^i.body, ^i.exit
  // CHECK-NEXT: ^i.exit:
  bir.loop for %i "i" in range(1, 8, 3) {
    bir.register_move %n = 1
  }
  // CHECK-NEXT: bir.unconditional_branch ^none.exit
  // CHECK-NEXT: ^none.exit:
  bir.loop for %none "none" in range(8, 1, 3) {
    bir.register_move %n = 2
  }
  // CHECK-NEXT: bir.unconditional_branch ^once.body
  // CHECK-NEXT: ^once.body:
  // CHECK-NEXT: bir.register_move %n = 3
  // CHECK-NEXT: bir.unconditional_branch ^once.exit
  // CHECK-NEXT: ^once.exit:
  bir.loop for %once "once" in range(0, 0, 0) {
    bir.register_move %n = 3
  }
  // CHECK-NEXT: bir.return
  bir.return
}

// Two ends of a trip share a latch: one back edge per header. A break goes to the exit.
// CHECK-LABEL: bir.func @several_blocks {
bir.func @several_blocks {
  %n = bir.register "n"
  // CHECK:      bir.unconditional_branch ^do.body
  // CHECK-NEXT: ^do.body:
  bir.do_while {
    // CHECK-NEXT: bir.compare_and_branch IS_LTIMM(%n, 3) ^leave, ^stay
    bir.compare_and_branch IS_LTIMM(%n, 3) ^leave, ^stay
  // CHECK-NEXT: ^leave:
  ^leave:
    // CHECK-NEXT: bir.unconditional_branch ^do.exit
    bir.break
  // CHECK-NEXT: ^stay:
  ^stay:
    // CHECK-NEXT: bir.compare_and_branch IS_EQIMM(%n, 7) ^one, ^other
    bir.compare_and_branch IS_EQIMM(%n, 7) ^one, ^other
  // CHECK-NEXT: ^one:
  // CHECK-NEXT: bir.unconditional_branch ^do.latch
  ^one:
    bir.continue
  // CHECK-NEXT: ^other:
  // CHECK-NEXT: bir.unconditional_branch ^do.latch
  ^other:
    bir.continue
  // CHECK-NEXT: ^do.latch:
  // CHECK-NEXT: bir.compare_and_branch IS_NEIMM(%n, 0) ^do.body, ^do.exit
  } while %n
  // CHECK-NEXT: ^do.exit:
  // CHECK-NEXT: bir.return
  bir.return
}

// Nests: outer counters are registers for inner offsets; equal axis names get registers of their own.
// CHECK-LABEL: bir.func @nest attributes {bir.axis_regs = [{axis = "i", counter = "i"}, {axis = "j", counter = "j", limit = "j.limit"}, {axis = "j", counter = "j_1", limit = "j.limit_1"}]} {
bir.func @nest {
  %n = bir.register "n"
  %x = bir.memory_location "x" : SB float32 [128, 512]
  bir.loop for %i "i" in range(0, 4, 1) {
    bir.dynamic_for_loop for %j "j" in range(0, %n, 1) {
      // CHECK: bir.memset %x[4 * %i + 2 * %j + %n]
      bir.memset %x[4 * %i + 2 * %j + %n][[512, 1], [1, 1]]
    }
    // CHECK: ^j.exit:
    // CHECK-NEXT: bir.register_move %j.limit_1 = %n on ALL
    bir.dynamic_for_loop for %j "j" in range(0, %n, 1) {
      // CHECK: bir.memset %x[%i - %j_1]
      bir.memset %x[%i - %j][[512, 1], [1, 1]]
    }
    // CHECK:      ^j.exit_1:
    // CHECK-NEXT: bir.register_alu %i = add(%i, 1) on ALL
  }
  bir.return
}
