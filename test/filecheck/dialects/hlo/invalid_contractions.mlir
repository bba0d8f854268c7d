// RUN: xdsl-opt %s --split-input-file --verify-diagnostics | filecheck %s

%f23 = "test.op"() : () -> tensor<2x3xf32>
%f32 = "test.op"() : () -> tensor<3x2xf32>
// CHECK: dot: expected contracting dimensions of equal sizes, found {1} of f32[2,3] and {1} of f32[3,2]
%r = hlo.dot(%f23, %f32) {lhs_contracting_dims = array<i64: 1>, rhs_contracting_dims = array<i64: 1>} : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>

// -----

%f23 = "test.op"() : () -> tensor<2x3xf32>
%f32 = "test.op"() : () -> tensor<3x2xf32>
// CHECK: dot: expected contracting dimensions of equal sizes, found {1} of f32[2,3] and {} of f32[3,2]
%r = hlo.dot(%f23, %f32) {lhs_contracting_dims = array<i64: 1>, rhs_contracting_dims = array<i64>} : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>

// -----

%f23 = "test.op"() : () -> tensor<2x3xf32>
%f32 = "test.op"() : () -> tensor<3x2xf32>
// CHECK: dot: expected lhs dimension numbers in [0, 2), found 2
%r = hlo.dot(%f23, %f32) {lhs_contracting_dims = array<i64: 2>, rhs_contracting_dims = array<i64: 0>} : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>

// -----

%f23 = "test.op"() : () -> tensor<2x3xf32>
%f32 = "test.op"() : () -> tensor<3x2xf32>
// CHECK: dot: expected unique lhs dimension numbers, found {1,1}
%r = hlo.dot(%f23, %f32) {lhs_contracting_dims = array<i64: 1>, rhs_contracting_dims = array<i64: 0>, lhs_batch_dims = array<i64: 1>, rhs_batch_dims = array<i64: 1>} : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>

// -----

%f23 = "test.op"() : () -> tensor<2x3xf32>
%f34 = "test.op"() : () -> tensor<3x4xf32>
// CHECK: dot: expected batch dimensions of equal sizes, found {0} of f32[2,3] and {1} of f32[3,4]
%r = hlo.dot(%f23, %f34) {lhs_contracting_dims = array<i64: 1>, rhs_contracting_dims = array<i64: 0>, lhs_batch_dims = array<i64: 0>, rhs_batch_dims = array<i64: 1>} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<4x4xf32>

// -----

%f23 = "test.op"() : () -> tensor<2x3xf32>
%f32 = "test.op"() : () -> tensor<3x2xf32>
// CHECK: dot: expected result f32[2,2], found f32[3,3]
%r = hlo.dot(%f23, %f32) {lhs_contracting_dims = array<i64: 1>, rhs_contracting_dims = array<i64: 0>} : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<3x3xf32>

// -----

%tok = "test.op"() : () -> !hlo.token
%f32 = "test.op"() : () -> tensor<3x2xf32>
// CHECK: dot: expected an array as lhs, found token[]
%r = hlo.dot(%tok, %f32) {lhs_contracting_dims = array<i64: 1>, rhs_contracting_dims = array<i64: 0>} : (!hlo.token, tensor<3x2xf32>) -> tensor<3x3xf32>

// -----

%s32 = "test.op"() : () -> tensor<3x2xi32>
%s23 = "test.op"() : () -> tensor<2x3xi32>
// CHECK: dot: expected result s32[3,3], found s8[3,3]
%r = hlo.dot(%s32, %s23) {lhs_contracting_dims = array<i64: 1>, rhs_contracting_dims = array<i64: 0>} : (tensor<3x2xi32>, tensor<2x3xi32>) -> tensor<3x3xi8>

// -----

%f23 = "test.op"() : () -> tensor<2x3xf32>
%f32 = "test.op"() : () -> tensor<3x2xf32>
// CHECK: dot: expected operand_precision to be one of default, high, highest, packed_nibble, found exact
%r = hlo.dot(%f23, %f32) {lhs_contracting_dims = array<i64: 1>, rhs_contracting_dims = array<i64: 0>, operand_precision = ["exact"]} : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>

// -----

%f23 = "test.op"() : () -> tensor<2x3xf32>
%f32 = "test.op"() : () -> tensor<3x2xf32>
// CHECK: dot: expected algorithm to be one of unset,
%r = hlo.dot(%f23, %f32) {lhs_contracting_dims = array<i64: 1>, rhs_contracting_dims = array<i64: 0>, algorithm = "dot_f80_f80_f80"} : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>

// -----

%f62 = "test.op"() : () -> tensor<6x2xf32>
%f232 = "test.op"() : () -> tensor<2x3x2xf32>
%s2 = "test.op"() : () -> tensor<2xi32>
// CHECK: ragged-dot: expected 1 lhs_ragged_dims, found 0
%r = hlo.ragged_dot(%f62, %f232, %s2) {lhs_contracting_dims = array<i64: 1>, rhs_contracting_dims = array<i64: 2>} : (tensor<6x2xf32>, tensor<2x3x2xf32>, tensor<2xi32>) -> tensor<4x4xf32>

// -----

%f62 = "test.op"() : () -> tensor<6x2xf32>
%f232 = "test.op"() : () -> tensor<2x3x2xf32>
%s2 = "test.op"() : () -> tensor<2xi32>
// CHECK: ragged-dot: expected 1 rhs_group_dims where the ragged dimension is free, found 0
%r = hlo.ragged_dot(%f62, %f232, %s2) {lhs_contracting_dims = array<i64: 1>, rhs_contracting_dims = array<i64: 2>, lhs_ragged_dims = array<i64: 0>} : (tensor<6x2xf32>, tensor<2x3x2xf32>, tensor<2xi32>) -> tensor<4x4xf32>

// -----

%f62 = "test.op"() : () -> tensor<6x2xf32>
%f232 = "test.op"() : () -> tensor<2x3x2xf32>
%s3 = "test.op"() : () -> tensor<3xi32>
// CHECK: ragged-dot: expected 3 groups of the rhs, found 2
%r = hlo.ragged_dot(%f62, %f232, %s3) {lhs_contracting_dims = array<i64: 1>, rhs_contracting_dims = array<i64: 2>, lhs_ragged_dims = array<i64: 0>, rhs_group_dims = array<i64: 0>} : (tensor<6x2xf32>, tensor<2x3x2xf32>, tensor<3xi32>) -> tensor<4x4xf32>

// -----

%f62 = "test.op"() : () -> tensor<6x2xf32>
%f232 = "test.op"() : () -> tensor<2x3x2xf32>
%f2 = "test.op"() : () -> tensor<2xf32>
// CHECK: ragged-dot: expected element type of group sizes to be integral, found f32[2]
%r = hlo.ragged_dot(%f62, %f232, %f2) {lhs_contracting_dims = array<i64: 1>, rhs_contracting_dims = array<i64: 2>, lhs_ragged_dims = array<i64: 0>, rhs_group_dims = array<i64: 0>} : (tensor<6x2xf32>, tensor<2x3x2xf32>, tensor<2xf32>) -> tensor<4x4xf32>

// -----

%f23 = "test.op"() : () -> tensor<2x3xf32>
%f32 = "test.op"() : () -> tensor<3x2xf32>
%f4 = "test.op"() : () -> tensor<4xf32>
%f = "test.op"() : () -> tensor<f32>
// CHECK: scaled-dot: expected a scale of blocks of f32[2,3], found f32[4]
%r = hlo.scaled_dot(%f23, %f32, %f4, %f) {lhs_contracting_dims = array<i64: 1>, rhs_contracting_dims = array<i64: 0>} : (tensor<2x3xf32>, tensor<3x2xf32>, tensor<4xf32>, tensor<f32>) -> tensor<2x2xf32>

// -----

%f23 = "test.op"() : () -> tensor<2x3xf32>
%ker = "test.op"() : () -> tensor<2x2x2x3xf32>
// CHECK: convolution: expected operands of rank 4, found f32[2,3] and f32[2,2,2,3]
%r = hlo.convolution(%f23, %ker) {window = #hlo.window<"size=2x2">, dim_labels = #hlo.dim_labels<"b01f_01io->b01f">} : (tensor<2x3xf32>, tensor<2x2x2x3xf32>) -> tensor<1x3x3x3xf32>

// -----

%img = "test.op"() : () -> tensor<1x4x4x2xf32>
%ker = "test.op"() : () -> tensor<2x2x2x3xf32>
// CHECK: convolution: expected a window of the size of f32[2,2,2,3], found {3,3}
%r = hlo.convolution(%img, %ker) {window = #hlo.window<"size=3x3">, dim_labels = #hlo.dim_labels<"b01f_01io->b01f">} : (tensor<1x4x4x2xf32>, tensor<2x2x2x3xf32>) -> tensor<1x3x3x3xf32>

// -----

%img = "test.op"() : () -> tensor<1x4x4x2xf32>
%ker = "test.op"() : () -> tensor<2x2x2x3xf32>
// CHECK: convolution: expected input features to be a multiple of the group count 3, found 2
%r = hlo.convolution(%img, %ker) {window = #hlo.window<"size=2x2">, dim_labels = #hlo.dim_labels<"b01f_01io->b01f">, feature_group_count = 3 : i64} : (tensor<1x4x4x2xf32>, tensor<2x2x2x3xf32>) -> tensor<1x3x3x3xf32>

// -----

%img = "test.op"() : () -> tensor<1x4x4x2xf32>
%ker = "test.op"() : () -> tensor<2x2x2x3xf32>
// CHECK: convolution: expected positive group counts, at most one above 1, found 2, 2
%r = hlo.convolution(%img, %ker) {window = #hlo.window<"size=2x2">, dim_labels = #hlo.dim_labels<"b01f_01io->b01f">, feature_group_count = 2 : i64, batch_group_count = 2 : i64} : (tensor<1x4x4x2xf32>, tensor<2x2x2x3xf32>) -> tensor<1x3x3x3xf32>

// -----

%img = "test.op"() : () -> tensor<1x4x4x2xf32>
%ker3 = "test.op"() : () -> tensor<2x2x3x3xf32>
// CHECK: convolution: expected 2 input features of the kernel, found 3
%r = hlo.convolution(%img, %ker3) {window = #hlo.window<"size=2x2">, dim_labels = #hlo.dim_labels<"b01f_01io->b01f">} : (tensor<1x4x4x2xf32>, tensor<2x2x3x3xf32>) -> tensor<1x3x3x3xf32>

// -----

%img = "test.op"() : () -> tensor<1x4x4x2xf32>
%ker = "test.op"() : () -> tensor<2x2x2x3xf32>
// CHECK: convolution: expected result f32[1,3,3,3], found f32[1,4,4,2]
%r = hlo.convolution(%img, %ker) {window = #hlo.window<"size=2x2">, dim_labels = #hlo.dim_labels<"b01f_01io->b01f">} : (tensor<1x4x4x2xf32>, tensor<2x2x2x3xf32>) -> tensor<1x4x4x2xf32>

// -----

%img = "test.op"() : () -> tensor<1x4x4x2xf32>
%ker = "test.op"() : () -> tensor<2x2x2x3xf32>
// CHECK: convolution: expected convolution_kind to be one of unset, fprop, wgrad, dgrad, found bprop
%r = hlo.convolution(%img, %ker) {window = #hlo.window<"size=2x2">, dim_labels = #hlo.dim_labels<"b01f_01io->b01f">, convolution_kind = "bprop"} : (tensor<1x4x4x2xf32>, tensor<2x2x2x3xf32>) -> tensor<1x3x3x3xf32>

// -----

%f23 = "test.op"() : () -> tensor<2x3xf32>
// CHECK: cholesky: expected operand to be square in its last two dimensions, found f32[2,3]
%r = hlo.cholesky(%f23) : (tensor<2x3xf32>) -> tensor<2x3xf32>

// -----

%s22 = "test.op"() : () -> tensor<2x2xi32>
// CHECK: cholesky: expected element type of operand to be floating or complex, found s32[2,2]
%r = hlo.cholesky(%s22) : (tensor<2x2xi32>) -> tensor<2x2xi32>

// -----

%f33 = "test.op"() : () -> tensor<3x3xf32>
%f34 = "test.op"() : () -> tensor<3x4xf32>
// CHECK: triangular-solve: expected transpose_a to be one of NO_TRANSPOSE, TRANSPOSE, ADJOINT, found ADJ
%r = hlo.triangular_solve(%f33, %f34) {left_side, transpose_a = "ADJ"} : (tensor<3x3xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>

// -----

%f33 = "test.op"() : () -> tensor<3x3xf32>
%f34 = "test.op"() : () -> tensor<3x4xf32>
// CHECK: triangular-solve: expected b to fit f32[3,3] on the right, found f32[3,4]
%r = hlo.triangular_solve(%f33, %f34) : (tensor<3x3xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>

// -----

%f33 = "test.op"() : () -> tensor<3x3xf32>
%f3 = "test.op"() : () -> tensor<3xf32>
// CHECK: triangular-solve: expected b of the rank and elements of f32[3,3], found f32[3]
%r = hlo.triangular_solve(%f33, %f3) : (tensor<3x3xf32>, tensor<3xf32>) -> tensor<3xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: fft: expected FFT of c64 or c128, found f32[4]
%r = hlo.fft(%f4) {fft_type = "FFT", fft_length = array<i64: 4>} : (tensor<4xf32>) -> tensor<4xf32>

// -----

%c4 = "test.op"() : () -> tensor<4xcomplex<f32>>
// CHECK: fft: expected RFFT of f32 or f64, found c64[4]
%r = hlo.fft(%c4) {fft_type = "RFFT", fft_length = array<i64: 4>} : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>

// -----

%c4 = "test.op"() : () -> tensor<4xcomplex<f32>>
// CHECK: fft: expected last dimensions {5}, found c64[4]
%r = hlo.fft(%c4) {fft_type = "IRFFT", fft_length = array<i64: 8>} : (tensor<4xcomplex<f32>>) -> tensor<8xf32>

// -----

%c4 = "test.op"() : () -> tensor<4xcomplex<f32>>
// CHECK: fft: expected fft_length of 1 to 3 dimensions of c64[4], found {}
%r = hlo.fft(%c4) {fft_type = "FFT", fft_length = array<i64>} : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>

// -----

%c4 = "test.op"() : () -> tensor<4xcomplex<f32>>
// CHECK: fft: expected fft_type to be one of FFT, IFFT, RFFT, IRFFT, found DCT
%r = hlo.fft(%c4) {fft_type = "DCT", fft_length = array<i64: 4>} : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>

// -----

%f23 = "test.op"() : () -> tensor<2x3xf32>
%f3 = "test.op"() : () -> tensor<3xf32>
%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: batch-norm-inference: expected a value per feature, f32[3], found f32[4]
%r = hlo.batch_norm_inference(%f23, %f3, %f4, %f3, %f3) {epsilon = 1.000000e-03 : f64, feature_index = 1 : i64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<4xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>

// -----

%f23 = "test.op"() : () -> tensor<2x3xf32>
%f3 = "test.op"() : () -> tensor<3xf32>
// CHECK: batch-norm-training: expected feature_index in [0, 2), found 2
%r = hlo.batch_norm_training(%f23, %f3, %f3) {epsilon = 1.000000e-03 : f64, feature_index = 2 : i64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>

// -----

%f23 = "test.op"() : () -> tensor<2x3xf32>
%f3 = "test.op"() : () -> tensor<3xf32>
// CHECK: batch-norm-training: expected result (f32[2,3], f32[3], f32[3]), found f32[2,3]
%r = hlo.batch_norm_training(%f23, %f3, %f3) {epsilon = 1.000000e-03 : f64, feature_index = 1 : i64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>

// -----

%f23 = "test.op"() : () -> tensor<2x3xf32>
%f3 = "test.op"() : () -> tensor<3xf32>
%f32 = "test.op"() : () -> tensor<3x2xf32>
// CHECK: batch-norm-grad: expected gradient of the output f32[2,3], found f32[3,2]
%r = hlo.batch_norm_grad(%f23, %f3, %f3, %f3, %f32) {epsilon = 1.000000e-03 : f64, feature_index = 1 : i64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3x2xf32>) -> tensor<2x3xf32>
