// RUN: XNEURON_ROUNDTRIP

// Dots, convolutions, decompositions, Fourier transforms, batch normalisation.

builtin.module {
  func.func private @contractions(%f23: tensor<2x3xf32>, %f32: tensor<3x2xf32>, %f234: tensor<2x3x4xf32>, %lhs8: tensor<2x3xi8>, %rhs8: tensor<3x2xi8>, %f62: tensor<6x2xf32>, %f232: tensor<2x3x2xf32>, %s2: tensor<2xi32>, %s3: tensor<3xi32>, %f24: tensor<2x4xf32>, %f44: tensor<4x4xf32>, %f22: tensor<2x2xf32>, %f: tensor<f32>, %img: tensor<1x4x4x2xf32>, %ker: tensor<2x2x2x3xf32>, %f33: tensor<3x3xf32>, %f34: tensor<3x4xf32>, %c4: tensor<4xcomplex<f32>>, %f8: tensor<8xf32>, %c5: tensor<5xcomplex<f32>>, %f3: tensor<3xf32>) {
    // CHECK: %dot = hlo.dot(%f23, %f32) {lhs_contracting_dims = array<i64: 1>, rhs_contracting_dims = array<i64: 0>} : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
    %dot = hlo.dot(%f23, %f32) {lhs_contracting_dims = array<i64: 1>, rhs_contracting_dims = array<i64: 0>} : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>

    // CHECK: %batched = hlo.dot(%f23, %f234) {lhs_contracting_dims = array<i64: 1>, rhs_contracting_dims = array<i64: 1>, lhs_batch_dims = array<i64: 0>, rhs_batch_dims = array<i64: 0>} : (tensor<2x3xf32>, tensor<2x3x4xf32>) -> tensor<2x4xf32>
    %batched = hlo.dot(%f23, %f234) {lhs_contracting_dims = array<i64: 1>, rhs_contracting_dims = array<i64: 1>, lhs_batch_dims = array<i64: 0>, rhs_batch_dims = array<i64: 0>} : (tensor<2x3xf32>, tensor<2x3x4xf32>) -> tensor<2x4xf32>

    // CHECK: %wider_result = hlo.dot(%lhs8, %rhs8) {lhs_contracting_dims = array<i64: 1>, rhs_contracting_dims = array<i64: 0>, operand_precision = ["highest", "default"], algorithm = "dot_f32_f32_f32"} : (tensor<2x3xi8>, tensor<3x2xi8>) -> tensor<2x2xi32>
    %wider_result = hlo.dot(%lhs8, %rhs8) {lhs_contracting_dims = array<i64: 1>, rhs_contracting_dims = array<i64: 0>, operand_precision = ["highest", "default"], algorithm = "dot_f32_f32_f32"} : (tensor<2x3xi8>, tensor<3x2xi8>) -> tensor<2x2xi32>

    // CHECK: %ragged_dot = hlo.ragged_dot(%f62, %f232, %s2) {lhs_contracting_dims = array<i64: 1>, rhs_contracting_dims = array<i64: 2>, lhs_ragged_dims = array<i64: 0>, rhs_group_dims = array<i64: 0>} : (tensor<6x2xf32>, tensor<2x3x2xf32>, tensor<2xi32>) -> tensor<6x3xf32>
    %ragged_dot = hlo.ragged_dot(%f62, %f232, %s2) {lhs_contracting_dims = array<i64: 1>, rhs_contracting_dims = array<i64: 2>, lhs_ragged_dims = array<i64: 0>, rhs_group_dims = array<i64: 0>} : (tensor<6x2xf32>, tensor<2x3x2xf32>, tensor<2xi32>) -> tensor<6x3xf32>

    // CHECK: %ragged_contracting = hlo.ragged_dot(%f62, %f62, %s3) {lhs_contracting_dims = array<i64: 0>, rhs_contracting_dims = array<i64: 0>, lhs_ragged_dims = array<i64: 0>} : (tensor<6x2xf32>, tensor<6x2xf32>, tensor<3xi32>) -> tensor<3x2x2xf32>
    %ragged_contracting = hlo.ragged_dot(%f62, %f62, %s3) {lhs_contracting_dims = array<i64: 0>, rhs_contracting_dims = array<i64: 0>, lhs_ragged_dims = array<i64: 0>} : (tensor<6x2xf32>, tensor<6x2xf32>, tensor<3xi32>) -> tensor<3x2x2xf32>

    // CHECK: %scaled_dot = hlo.scaled_dot(%f24, %f44, %f22, %f) {lhs_contracting_dims = array<i64: 1>, rhs_contracting_dims = array<i64: 0>} : (tensor<2x4xf32>, tensor<4x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<2x4xf32>
    %scaled_dot = hlo.scaled_dot(%f24, %f44, %f22, %f) {lhs_contracting_dims = array<i64: 1>, rhs_contracting_dims = array<i64: 0>} : (tensor<2x4xf32>, tensor<4x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<2x4xf32>

    // CHECK: %convolution = hlo.convolution(%img, %ker) {window = #hlo.window<"size=2x2">, dim_labels = #hlo.dim_labels<"b01f_01io->b01f">} : (tensor<1x4x4x2xf32>, tensor<2x2x2x3xf32>) -> tensor<1x3x3x3xf32>
    %convolution = hlo.convolution(%img, %ker) {window = #hlo.window<"size=2x2">, dim_labels = #hlo.dim_labels<"b01f_01io->b01f">} : (tensor<1x4x4x2xf32>, tensor<2x2x2x3xf32>) -> tensor<1x3x3x3xf32>

    // CHECK: %cholesky = hlo.cholesky(%f33) {lower} : (tensor<3x3xf32>) -> tensor<3x3xf32>
    %cholesky = hlo.cholesky(%f33) {lower} : (tensor<3x3xf32>) -> tensor<3x3xf32>

    // CHECK: %triangular_solve = hlo.triangular_solve(%f33, %f34) {left_side, lower, transpose_a = "TRANSPOSE"} : (tensor<3x3xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
    %triangular_solve = hlo.triangular_solve(%f33, %f34) {left_side, lower, transpose_a = "TRANSPOSE"} : (tensor<3x3xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>

    // CHECK: %fft = hlo.fft(%c4) {fft_type = "FFT", fft_length = array<i64: 4>} : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
    %fft = hlo.fft(%c4) {fft_type = "FFT", fft_length = array<i64: 4>} : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>

    // CHECK: %half = hlo.fft(%f8) {fft_type = "RFFT", fft_length = array<i64: 8>} : (tensor<8xf32>) -> tensor<5xcomplex<f32>>
    %half = hlo.fft(%f8) {fft_type = "RFFT", fft_length = array<i64: 8>} : (tensor<8xf32>) -> tensor<5xcomplex<f32>>

    // CHECK: %whole = hlo.fft(%c5) {fft_type = "IRFFT", fft_length = array<i64: 8>} : (tensor<5xcomplex<f32>>) -> tensor<8xf32>
    %whole = hlo.fft(%c5) {fft_type = "IRFFT", fft_length = array<i64: 8>} : (tensor<5xcomplex<f32>>) -> tensor<8xf32>

    // CHECK: %batch_norm_inference = hlo.batch_norm_inference(%f23, %f3, %f3, %f3, %f3) {epsilon = 1.000000e-03 : f64, feature_index = 1 : i64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
    %batch_norm_inference = hlo.batch_norm_inference(%f23, %f3, %f3, %f3, %f3) {epsilon = 1.000000e-03 : f64, feature_index = 1 : i64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>

    // CHECK: %batch_norm_training = hlo.batch_norm_training(%f23, %f3, %f3) {epsilon = 1.000000e-03 : f64, feature_index = 1 : i64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> tuple<tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>>
    %batch_norm_training = hlo.batch_norm_training(%f23, %f3, %f3) {epsilon = 1.000000e-03 : f64, feature_index = 1 : i64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> tuple<tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>>

    // CHECK: %batch_norm_grad = hlo.batch_norm_grad(%f23, %f3, %f3, %f3, %f23) {epsilon = 1.000000e-03 : f64, feature_index = 1 : i64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x3xf32>) -> tuple<tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>>
    %batch_norm_grad = hlo.batch_norm_grad(%f23, %f3, %f3, %f3, %f23) {epsilon = 1.000000e-03 : f64, feature_index = 1 : i64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x3xf32>) -> tuple<tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>>
    func.return
  }
}
