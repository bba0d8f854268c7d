// A tiled matrix product whose numbers of tiles are registers: `n` tiles of 128 along the contraction, `m` tiles of 32
// columns. A is given transposed: the contraction is the partition.
//   c[:, 0 : 32 * m] = at[0 : 128 * n, :].T @ b[0 : 128 * n, 0 : 32 * m]
// xneuron-run examples/bir/matmul.mlir --random 0 --register n=3 --register m=2
bir.func @main {
  %n = bir.register "n"
  %m = bir.register "m"
  %at = bir.memory_location "at" : DRAM float32 [512, 64] <kind = ExternalInput>
  %b = bir.memory_location "b" : DRAM float32 [512, 128] <kind = ExternalInput>
  %c = bir.memory_location "c" : DRAM float32 [64, 128] <kind = ExternalOutput>
  %left = bir.memory_location "left" : SB float32 [128, 64]
  %right = bir.memory_location "right" : SB float32 [128, 32]
  %result = bir.memory_location "result" : SB float32 [64, 32]
  %sums = bir.memory_location "sums" : PSUM float32 [64, 32]
  bir.dynamic_for_loop for %j "j" in range(0, %m, 1) {
    bir.memset %sums on DVE
    bir.dynamic_for_loop for %k "k" in range(0, 128 * %n, 128) {
      bir.load %left = %at[64 * %k][[64, 128], [1, 64]] on DMA
      bir.load %right = %b[128 * %k + 32 * %j][[128, 128], [1, 32]] on DMA
      bir.matmult %sums = %right, %left <start_tensor_calc = false> on PE
    }
    bir.tensor_copy %result = %sums on DVE
    bir.save %c[32 * %j][[128, 64], [1, 32]] = %result on DMA
  }
  bir.return
}
