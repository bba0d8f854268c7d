// Bit-flipping decoding of an LDPC code (Gallager): while parity checks fail, flip the bits of which most checks fail.
// How often is known to nobody but the register `unsatisfied`; `most` bounds it.
//   h: parity checks [13 checks, 24 bits], ht: its transpose, degree: checks of each bit; word: received, then decoded
// test/unit/simulator/test_kernels.py runs it on a code and a word with errors.
bir.func @main {
  %unsatisfied = bir.register "unsatisfied"
  %rounds = bir.register "rounds"
  %most = bir.register "most"
  %h = bir.memory_location "h" : DRAM float32 [13, 24] <kind = ExternalInput>
  %ht = bir.memory_location "ht" : DRAM float32 [24, 13] <kind = ExternalInput>
  %degree = bir.memory_location "degree" : DRAM float32 [24, 1] <kind = ExternalInput>
  %received = bir.memory_location "received" : DRAM float32 [24, 1] <kind = ExternalInput>
  %decoded = bir.memory_location "decoded" : DRAM float32 [24, 1] <kind = ExternalOutput>
  %checks = bir.memory_location "checks" : SB float32 [13, 24]
  %bits = bir.memory_location "bits" : SB float32 [24, 13]
  %half = bir.memory_location "half" : SB float32 [24, 1]
  %word = bir.memory_location "word" : SB float32 [24, 1]
  %flip = bir.memory_location "flip" : SB float32 [24, 1]
  %syndrome = bir.memory_location "syndrome" : SB float32 [13, 1]
  %failures = bir.memory_location "failures" : SB int32 [1, 1]
  %parities = bir.memory_location "parities" : PSUM float32 [13, 1]
  %votes = bir.memory_location "votes" : PSUM float32 [24, 1]
  bir.load %checks = %h on DMA
  bir.load %bits = %ht on DMA
  bir.load %half = %degree on DMA
  bir.load %word = %received on DMA
  bir.tensor_scalar %half = %half <op0 = mult, const0 = 0.5> on DVE
  bir.register_move %rounds = 0
  bir.do_while {
    bir.matmult %parities = %word, %bits on PE
    bir.tensor_scalar %syndrome = %parities <op0 = mod, const0 = 2.0> on DVE
    bir.tensor_reduce %failures = add(%syndrome) <axis = C> on Pool
    bir.tensor_load %unsatisfied = %failures
    bir.compare_and_branch IS_LTREG(%rounds, %most) ^flip_bits, ^give_up
  ^give_up:
    bir.break
  ^flip_bits:
    bir.matmult %votes = %syndrome, %checks on PE
    bir.tensor_tensor %flip = is_gt(%votes, %half) on DVE
    bir.tensor_tensor %word = not_equal(%word, %flip) on DVE
    bir.register_alu %rounds = add(%rounds, 1)
    bir.continue
  } while %unsatisfied
  bir.save %decoded = %word on DMA
  bir.return
}
