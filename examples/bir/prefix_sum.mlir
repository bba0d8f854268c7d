// Prefix sums along each row, in a nest of two dynamic loops: `n` blocks of `w` columns.
//   y[p, j] = sum(x[p, 0 : j + 1]) for j < n * w, w <= 16
// xneuron-run examples/bir/prefix_sum.mlir --random 0 --register n=2 --register w=5
bir.func @main {
  %n = bir.register "n"
  %w = bir.register "w"
  %at = bir.register "at"
  %x = bir.memory_location "x" : DRAM float32 [128, 64] <kind = ExternalInput>
  %y = bir.memory_location "y" : DRAM float32 [128, 64] <kind = ExternalOutput>
  %row = bir.memory_location "row" : SB float32 [128, 64]
  %sum = bir.memory_location "sum" : SB float32 [128, 1]
  bir.load %row = %x on DMA
  bir.memset %sum on DVE
  bir.register_move %at = 0
  bir.dynamic_for_loop for %i "i" in range(0, %n, 1) {
    bir.dynamic_for_loop for %j "j" in range(0, %w, 1) {
      bir.tensor_tensor %sum = add(%sum, %row[%at + %j][[64, 128], [1, 1]]) on DVE
      bir.tensor_copy %row[%at + %j][[64, 128], [1, 1]] = %sum on DVE
    }
    bir.register_alu %at = add(%at, %w)
  }
  bir.save %y = %row on DMA
  bir.return
}
