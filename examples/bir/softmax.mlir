// Softmax of each row over a runtime number of blocks of 16 columns, without ever holding a row: the first loop keeps a
// running maximum and a running sum that is rescaled when the maximum grows, the second writes the result.
//   y[p] = softmax(x[p, 0 : 16 * n])
// xneuron-run examples/bir/softmax.mlir --random 0 --register n=3
bir.func @main {
  %n = bir.register "n"
  %x = bir.memory_location "x" : DRAM float32 [128, 128] <kind = ExternalInput>
  %y = bir.memory_location "y" : DRAM float32 [128, 128] <kind = ExternalOutput>
  %tile = bir.memory_location "tile" : SB float32 [128, 16]
  %new = bir.memory_location "new" : SB float32 [128, 1]
  %max = bir.memory_location "max" : SB float32 [128, 1]
  %minus = bir.memory_location "minus" : SB float32 [128, 1]
  %scale = bir.memory_location "scale" : SB float32 [128, 1]
  %part = bir.memory_location "part" : SB float32 [128, 1]
  %sum = bir.memory_location "sum" : SB float32 [128, 1]
  bir.memset %max <constant = -inf> on DVE
  bir.memset %sum on DVE
  bir.dynamic_for_loop for %i "i" in range(0, %n, 1) {
    bir.load %tile = %x[16 * %i][[128, 128], [1, 16]] on DMA
    bir.tensor_reduce %new = max(%tile) on DVE
    bir.tensor_tensor %new = max(%new, %max) on DVE
    bir.tensor_scalar %minus = %new <op0 = mult, const0 = -1.0> on DVE
    // exp(old maximum - new maximum) rescales what was summed so far.
    bir.activation %scale = Exp(%max, %minus) on Activation
    bir.activation %tile = Exp(%tile, %minus) on Activation
    bir.tensor_reduce %part = add(%tile) on DVE
    bir.tensor_scalar_ptr %sum = %sum, %scale, %part <op0 = mult, op1 = add> on DVE
    bir.tensor_copy %max = %new on DVE
  }
  bir.reciprocal %sum = %sum on DVE
  bir.dynamic_for_loop for %j "j" in range(0, %n, 1) {
    bir.load %tile = %x[16 * %j][[128, 128], [1, 16]] on DMA
    bir.activation %tile = Exp(%tile, %minus) on Activation
    bir.tensor_scalar_ptr %tile = %tile, %sum <op0 = mult> on DVE
    bir.save %y[16 * %j][[128, 128], [1, 16]] = %tile on DMA
  }
  bir.return
}
