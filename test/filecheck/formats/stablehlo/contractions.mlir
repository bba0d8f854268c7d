// REQUIRES: jaxlib
// RUN: xneuron-opt %s -t hlo | filecheck %s

module {
  func.func @main(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>, %q: tensor<7x2x3xf32>, %k: tensor<7x5x3xf32>, %im: tensor<2x8x8x3xf32>, %ker: tensor<3x3x3x4xf32>, %l: tensor<3x3xf32>, %z: tensor<8xcomplex<f32>>) -> tensor<2x4xf32> {
    %0 = stablehlo.dot %a, %b, precision = [HIGH, DEFAULT] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
    // CHECK: %dot = f32[2,4]{1,0} dot(%a, %b), lhs_contracting_dims={1}, rhs_contracting_dims={0}, operand_precision={high,default}
    %1 = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<7x2x3xf32>, tensor<7x5x3xf32>) -> tensor<7x2x5xf32>
    // CHECK-NEXT: %dot.1 = f32[7,2,5]{2,1,0} dot(%q, %k), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={2}
    %2 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 3, allow_imprecise_accumulation = false> : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
    // CHECK-NEXT: algorithm=dot_bf16_bf16_f32_x3
    %3 = stablehlo.convolution(%im, %ker) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 1], pad = [[1, 1], [0, 2]], lhs_dilate = [1, 2], rhs_dilate = [2, 1], reverse = [false, true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision DEFAULT>]} : (tensor<2x8x8x3xf32>, tensor<3x3x3x4xf32>) -> tensor<2x3x15x4xf32>
    // CHECK-NEXT: convolution(%im, %ker), window={size=3x3 stride=2x1 pad=1_1x0_2 lhs_dilate=1x2 rhs_dilate=2x1 rhs_reversal=0x1}, dim_labels=b01f_01io->b01f, operand_precision={highest,default}
    %4 = "stablehlo.triangular_solve"(%l, %l) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = false}> : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
    // CHECK-NEXT: triangular-solve(%l, %l), left_side=true, lower=true, transpose_a=TRANSPOSE
    %5 = stablehlo.cholesky %l, lower = true : tensor<3x3xf32>
    // CHECK-NEXT: cholesky(%l), lower=true
    %6 = stablehlo.fft %z, type = IFFT, length = [8] : (tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>>
    // CHECK-NEXT: fft(%z), fft_type=IFFT, fft_length={8}
    return %0 : tensor<2x4xf32>
  }
}
