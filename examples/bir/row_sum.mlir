// The sum of each row over as many columns as memory says: `blocks` blocks of 8 columns.
//   y[p] = sum(x[p, 0 : 8 * blocks])
// xneuron-run examples/bir/row_sum.mlir --random 0
bir.func @main {
  %n = bir.register "n"
  %blocks = bir.memory_location "blocks" : DRAM int32 [1, 1] <kind = ExternalInput>
  %x = bir.memory_location "x" : DRAM float32 [128, 128] <kind = ExternalInput>
  %y = bir.memory_location "y" : DRAM float32 [128, 1] <kind = ExternalOutput>
  %tile = bir.memory_location "tile" : SB float32 [128, 8]
  %part = bir.memory_location "part" : SB float32 [128, 1]
  %sum = bir.memory_location "sum" : SB float32 [128, 1]
  bir.tensor_load %n = %blocks
  bir.memset %sum on DVE
  bir.dynamic_for_loop for %i "i" in range(0, %n, 1) {
    bir.load %tile = %x[8 * %i][[128, 128], [1, 8]] on DMA
    bir.tensor_reduce %part = add(%tile) on DVE
    bir.tensor_tensor %sum = add(%sum, %part) on DVE
  }
  bir.save %y = %sum on DMA
  bir.return
}
