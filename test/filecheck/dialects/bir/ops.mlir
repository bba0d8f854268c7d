// RUN: xneuron-opt %s | xneuron-opt | filecheck %s
// RUN: XNEURON_ROUNDTRIP

// CHECK-LABEL: bir.func @storage {
bir.func @storage {
  // CHECK-NEXT: %n = bir.register "n"
  %n = bir.register "n"
  // CHECK-NEXT: %w = bir.register "w" <engine = DVE, num_physical_regs = 2, physical_id = 3>
  %w = bir.register "w" <engine = DVE, num_physical_regs = 2, physical_id = 3>
  // CHECK-NEXT: %x = bir.memory_location "x" : DRAM float32 [4, 128, 512] <kind = ExternalInput>
  %x = bir.memory_location "x" : DRAM float32 [4, 128, 512] <kind = ExternalInput>
  // CHECK-NEXT: %y = bir.memory_location "y" : SB bfloat16 [32, 4] <set = "tiles", tensor_class = NeuronSBTensor, addr = 2048, base = 64, allocated = true>
  %y = bir.memory_location "y" : SB bfloat16 [32, 4] <set = "tiles", tensor_class = NeuronSBTensor, addr = 2048, base = 64, allocated = true>
  // CHECK-NEXT: bir.return
  bir.return
}

// CHECK-LABEL: bir.func @registers {
bir.func @registers {
  %n = bir.register "n"
  %m = bir.register "m"
  %w = bir.register "w" <num_physical_regs = 2>
  %c = bir.memory_location "c" : DRAM int32 [1, 1]
  // CHECK:      bir.register_move "zero" %n = 0 on ALL
  bir.register_move "zero" %n = 0 on ALL
  // CHECK-NEXT: bir.register_move %n : float32 = 1.5
  bir.register_move %n : float32 = 1.5
  // CHECK-NEXT: bir.register_move %w : int64 = 5 : int64
  bir.register_move %w : int64 = 5 : int64
  // CHECK-NEXT: bir.register_alu %m = mult(%n, -4)
  bir.register_alu %m = mult(%n, -4)
  // CHECK-NEXT: bir.register_alu %m : uint32 = divide(%m : uint32, 5 : uint32)
  bir.register_alu %m : uint32 = divide(%m : uint32, 5 : uint32)
  // CHECK-NEXT: bir.tensor_load %n = %c
  bir.tensor_load %n = %c
  // CHECK-NEXT: bir.tensor_save %c = %n
  bir.tensor_save %c = %n
  bir.return
}

// CHECK-LABEL: bir.func @compute {
bir.func @compute {
  %n = bir.register "n"
  %x = bir.memory_location "x" : SB float32 [128, 512]
  %y = bir.memory_location "y" : SB float32 [128, 512]
  %s = bir.memory_location "s" : SB float32 [128, 1]
  %p = bir.memory_location "p" : PSUM float32 [128, 512]
  %d = bir.memory_location "d" : DRAM float32 [128, 512]
  // CHECK:      bir.tensor_tensor %y = add(%x, %y) on DVE
  bir.tensor_tensor %y = add(%x, %y) on DVE
  // CHECK-NEXT: bir.tensor_scalar %y = %x <op0 = mult, const0 = 2, op1 = add, const1 = 0.5, reverse1 = true> on DVE
  bir.tensor_scalar %y = %x <op0 = mult, const0 = 2, reverse0 = false, op1 = add, const1 = 0.5, reverse1 = true> on DVE
  // CHECK-NEXT: bir.tensor_scalar_ptr %y = %x, %s <op0 = subtract>
  bir.tensor_scalar_ptr %y = %x, %s <op0 = subtract>
  // CHECK-NEXT: bir.activation %y = Exp(%x, %s) <scale = 0.125> on Activation
  bir.activation %y = Exp(%x, %s) <scale = 0.125> on Activation
  // CHECK-NEXT: bir.memset %x <constant = -inf> on Pool
  bir.memset %x <constant = -inf> on Pool
  // CHECK-NEXT: bir.memset %x <constant = 1.0e-05>
  bir.memset %x <constant = 1.0e-5>
  // CHECK-NEXT: bir.tensor_reduce %s = max(%x) <negate = true>
  bir.tensor_reduce %s = max(%x) <negate = true>
  // CHECK-NEXT: bir.iota %x <base = 3, pattern = [1, 512], channel_multiplier = 512>
  bir.iota %x <base = 3, pattern = [1, 512], channel_multiplier = 512>
  // CHECK-NEXT: bir.select %y = %x, %x, %y
  bir.select %y = %x, %x, %y
  // CHECK-NEXT: bir.reciprocal %y = %x
  bir.reciprocal %y = %x
  // CHECK-NEXT: bir.matmult %p = %x, %y[0]{{\[\[}}512, 128], [1, 128]] <start_tensor_calc = false> on PE
  bir.matmult %p = %x, %y[0][[512, 128], [1, 128]] <start_tensor_calc = false> on PE
  // CHECK-NEXT: bir.tensor_copy %y = %p
  bir.tensor_copy %y = %p
  // CHECK-NEXT: bir.load %x[128 * %n]{{\[\[}}512, 32], [1, 4]] = %d[%n + 3]{{\[\[}}512, 32], [1, 4]] <queue = "q0", dge_type = HWDGE> on DMA
  bir.load %x[128 * %n][[512, 32], [1, 4]] = %d[%n + 3][[512, 32], [1, 4]] <queue = "q0", dge_type = HWDGE> on DMA
  // CHECK-NEXT: bir.save %d = %x
  bir.save %d = %x
  // CHECK-NEXT: bir.dma_copy %y = %x {note = "kept"}
  bir.dma_copy %y = %x {note = "kept"}
  // CHECK-NEXT: bir.no_op on SP
  bir.no_op on SP
  // CHECK-NEXT: bir.all_engine_barrier on ALL
  bir.all_engine_barrier on ALL
  // CHECK-NEXT: bir.exit
  bir.exit
}

// CHECK-LABEL: bir.func @loops {
bir.func @loops {
  %n = bir.register "n"
  %x = bir.memory_location "x" : SB float32 [128, 512]
  // CHECK:      bir.loop "outer" for %i "i" in range(0, 8, 2) <is_parallel = true> on ALL {
  bir.loop "outer" for %i "i" in range(0, 8, 2) <is_parallel = true> on ALL {
    // CHECK-NEXT: bir.dynamic_for_loop for %j "j" in range(-1, -4 * %n + 1, 1) <max_tripcount = 16> attributes {hint = 1 : i32} label "L.body" {
    bir.dynamic_for_loop for %j "j" in range(-1, -4 * %n + 1, 1) <max_tripcount = 16> attributes {hint = 1 : i32} label "L.body" {
      // CHECK-NEXT: bir.memset %x[4 * %i + %j - 3]{{\[\[}}512, 128], [1, 4]]
      bir.memset %x[4 * %i + %j - 3][[512, 128], [1, 4]]
    }
    // CHECK:      bir.loop for %k "k" in range(0, 0, 0) {
    bir.loop for %k "k" in range(0, 0, 0) {
      // CHECK-NEXT: bir.memset %x[floordiv(sum(index(%i), mult(%n, 3)), 2)]{{\[\[}}512, 1], [1, 1]]
      bir.memset %x[floordiv(sum(index(%i), mult(%n, 3)), 2)][[512, 1], [1, 1]]
    }
  }
  // CHECK:      bir.do_while "wait" {
  bir.do_while "wait" {
    // CHECK-NEXT: bir.compare_and_branch IS_LTIMM(%n, 3) ^leave, ^stay
    bir.compare_and_branch IS_LTIMM(%n, 3) ^leave, ^stay
  // CHECK-NEXT: ^leave:
  ^leave:
    // CHECK-NEXT: bir.break
    bir.break
  // CHECK-NEXT: ^stay:
  ^stay:
    // CHECK-NEXT: bir.continue
    bir.continue
  // CHECK-NEXT: } while %n on SP
  } while %n on SP
  // CHECK-NEXT: bir.unconditional_branch "jump" ^done
  bir.unconditional_branch "jump" ^done
// CHECK-NEXT: ^done:
^done:
  // CHECK-NEXT: bir.return
  bir.return
}
