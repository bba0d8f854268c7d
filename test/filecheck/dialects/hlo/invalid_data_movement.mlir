// RUN: xdsl-opt %s --split-input-file --verify-diagnostics | filecheck %s

// CHECK: constant: expected a literal, found 1 : i64
%r = hlo.constant() {value = 1 : i64} : () -> tensor<4xf32>

// -----

// CHECK: constant: expected result f32[4], found f32[3]
%r = hlo.constant() {value = #hlo.literal<"0" : tensor<4xf32>>} : () -> tensor<3xf32>

// -----

// CHECK: iota: expected iota_dimension in [0, 2), found 2
%r = hlo.iota() {iota_dimension = 2 : i64} : () -> tensor<2x3xf32>

// -----

// CHECK: iota: expected iota_dimension in [0, 0), found 0
%r = hlo.iota() {iota_dimension = 0 : i64} : () -> tensor<f32>

// -----

// CHECK: iota: expected element type of result to be arithmetic, found pred[4]
%r = hlo.iota() {iota_dimension = 0 : i64} : () -> tensor<4xi1>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: copy: expected result f32[4], found f32[3]
%r = hlo.copy(%f4) : (tensor<4xf32>) -> tensor<3xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: copy-start: expected result (f32[4], f32[4], u32[]), found (f32[4], f32[4])
%r = hlo.copy_start(%f4) : (tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>>

// -----

%f4x2 = "test.op"() : () -> tuple<tensor<4xf32>, tensor<4xf32>>
// CHECK: copy-done: expected the operand to be copy-start, found test.op
%r = hlo.copy_done(%f4x2) : (tuple<tensor<4xf32>, tensor<4xf32>>) -> tensor<4xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: bitcast: expected a result of the size of f32[4], found f32[3]
%r = hlo.bitcast(%f4) : (tensor<4xf32>) -> tensor<3xf32>

// -----

%f3 = "test.op"() : () -> tensor<3xf32>
// CHECK: broadcast: expected 1 dimensions, found 2
%r = hlo.broadcast(%f3) {dimensions = array<i64: 0, 1>} : (tensor<3xf32>) -> tensor<2x3xf32>

// -----

%f3 = "test.op"() : () -> tensor<3xf32>
// CHECK: broadcast: expected dimensions in [0, 2), found 2
%r = hlo.broadcast(%f3) {dimensions = array<i64: 2>} : (tensor<3xf32>) -> tensor<2x3xf32>

// -----

%f3 = "test.op"() : () -> tensor<3xf32>
// CHECK: broadcast: expected broadcast dimensions of the result to be f32[3], found f32[2]
%r = hlo.broadcast(%f3) {dimensions = array<i64: 0>} : (tensor<3xf32>) -> tensor<2x3xf32>

// -----

%f32 = "test.op"() : () -> tensor<3x2xf32>
// CHECK: broadcast: expected ascending dimensions, found {1,0}
%r = hlo.broadcast(%f32) {dimensions = array<i64: 1, 0>} : (tensor<3x2xf32>) -> tensor<2x3xf32>

// -----

%f33 = "test.op"() : () -> tensor<3x3xf32>
// CHECK: broadcast: expected unique dimensions, found {1,1}
%r = hlo.broadcast(%f33) {dimensions = array<i64: 1, 1>} : (tensor<3x3xf32>) -> tensor<2x3xf32>

// -----

%f23 = "test.op"() : () -> tensor<2x3xf32>
// CHECK: reshape: expected a result of the elements of f32[2,3], found f32[4]
%r = hlo.reshape(%f23) : (tensor<2x3xf32>) -> tensor<4xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: reshape: expected a result of the elements of f32[4], found s32[4]
%r = hlo.reshape(%f4) : (tensor<4xf32>) -> tensor<4xi32>

// -----

%f6 = "test.op"() : () -> tensor<6xf32>
%f = "test.op"() : () -> tensor<f32>
// CHECK: dynamic-reshape: expected dimension size s32[], found f32[]
%r = hlo.dynamic_reshape(%f6, %f, %f) : (tensor<6xf32>, tensor<f32>, tensor<f32>) -> tensor<2x3xf32>

// -----

%f6 = "test.op"() : () -> tensor<6xf32>
%s = "test.op"() : () -> tensor<i32>
// CHECK: dynamic-reshape: expected 2 dimension sizes, found 1
%r = hlo.dynamic_reshape(%f6, %s) : (tensor<6xf32>, tensor<i32>) -> tensor<2x3xf32>

// -----

%f23 = "test.op"() : () -> tensor<2x3xf32>
// CHECK: transpose: expected dimensions to be a permutation for f32[2,3], found {0,0}
%r = hlo.transpose(%f23) {dimensions = array<i64: 0, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>

// -----

%f23 = "test.op"() : () -> tensor<2x3xf32>
// CHECK: transpose: expected result f32[3,2], found f32[2,3]
%r = hlo.transpose(%f23) {dimensions = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<2x3xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: reverse: expected dimensions in [0, 1), found 1
%r = hlo.reverse(%f4) {dimensions = array<i64: 1>} : (tensor<4xf32>) -> tensor<4xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: reverse: expected unique dimensions, found {0,0}
%r = hlo.reverse(%f4) {dimensions = array<i64: 0, 0>} : (tensor<4xf32>) -> tensor<4xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: slice: expected 1 slice dimensions, found 2
%r = hlo.slice(%f4) {starts = array<i64: 0>, limits = array<i64: 2, 2>, strides = array<i64: 1>} : (tensor<4xf32>) -> tensor<2xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: slice: expected 0 <= start <= limit <= 4, found 0 and 5
%r = hlo.slice(%f4) {starts = array<i64: 0>, limits = array<i64: 5>, strides = array<i64: 1>} : (tensor<4xf32>) -> tensor<5xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: slice: expected 0 <= start <= limit <= 4, found 3 and 2
%r = hlo.slice(%f4) {starts = array<i64: 3>, limits = array<i64: 2>, strides = array<i64: 1>} : (tensor<4xf32>) -> tensor<5xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: slice: expected a positive stride, found 0
%r = hlo.slice(%f4) {starts = array<i64: 0>, limits = array<i64: 4>, strides = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: slice: expected result f32[2], found f32[4]
%r = hlo.slice(%f4) {starts = array<i64: 0>, limits = array<i64: 4>, strides = array<i64: 2>} : (tensor<4xf32>) -> tensor<4xf32>

// -----

%f23 = "test.op"() : () -> tensor<2x3xf32>
%s = "test.op"() : () -> tensor<i32>
// CHECK: dynamic-slice: expected 2 start indices, found 1
%r = hlo.dynamic_slice(%f23, %s) {slice_sizes = array<i64: 2, 2>} : (tensor<2x3xf32>, tensor<i32>) -> tensor<2x2xf32>

// -----

%f23 = "test.op"() : () -> tensor<2x3xf32>
%f = "test.op"() : () -> tensor<f32>
%s = "test.op"() : () -> tensor<i32>
// CHECK: dynamic-slice: expected element type of start index to be integral, found f32[]
%r = hlo.dynamic_slice(%f23, %f, %s) {slice_sizes = array<i64: 2, 2>} : (tensor<2x3xf32>, tensor<f32>, tensor<i32>) -> tensor<2x2xf32>

// -----

%f23 = "test.op"() : () -> tensor<2x3xf32>
%s = "test.op"() : () -> tensor<i32>
%u = "test.op"() : () -> tensor<ui32>
// CHECK: dynamic-slice: expected start indices of one type, s32[], found u32[]
%r = hlo.dynamic_slice(%f23, %s, %u) {slice_sizes = array<i64: 2, 2>} : (tensor<2x3xf32>, tensor<i32>, tensor<ui32>) -> tensor<2x2xf32>

// -----

%f23 = "test.op"() : () -> tensor<2x3xf32>
%s3 = "test.op"() : () -> tensor<3xi32>
// CHECK: dynamic-slice: expected start indices for rank 2, found s32[3]
%r = hlo.dynamic_slice(%f23, %s3) {slice_sizes = array<i64: 2, 2>} : (tensor<2x3xf32>, tensor<3xi32>) -> tensor<2x2xf32>

// -----

%f23 = "test.op"() : () -> tensor<2x3xf32>
%s = "test.op"() : () -> tensor<i32>
// CHECK: dynamic-slice: expected dynamic_slice_sizes within {2,3}, found {2,4}
%r = hlo.dynamic_slice(%f23, %s, %s) {slice_sizes = array<i64: 2, 4>} : (tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<2x4xf32>

// -----

%f23 = "test.op"() : () -> tensor<2x3xf32>
%f24 = "test.op"() : () -> tensor<2x4xf32>
%s = "test.op"() : () -> tensor<i32>
// CHECK: dynamic-update-slice: expected update within {2,3}, found {2,4}
%r = hlo.dynamic_update_slice(%f23, %f24, %s, %s) : (tensor<2x3xf32>, tensor<2x4xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>

// -----

%f23 = "test.op"() : () -> tensor<2x3xf32>
%s23 = "test.op"() : () -> tensor<2x3xi32>
%s = "test.op"() : () -> tensor<i32>
// CHECK: dynamic-update-slice: expected update of the elements of f32[2,3], found s32[2,3]
%r = hlo.dynamic_update_slice(%f23, %s23, %s, %s) : (tensor<2x3xf32>, tensor<2x3xi32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
%s = "test.op"() : () -> tensor<i32>
// CHECK: pad: expected padding value f32[], found s32[]
%r = hlo.pad(%f4, %s) {edge_padding_low = array<i64: 0>, edge_padding_high = array<i64: 0>, interior_padding = array<i64: 0>} : (tensor<4xf32>, tensor<i32>) -> tensor<4xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
%f = "test.op"() : () -> tensor<f32>
// CHECK: pad: expected 1 padded dimensions, found 2
%r = hlo.pad(%f4, %f) {edge_padding_low = array<i64: 0>, edge_padding_high = array<i64: 0, 0>, interior_padding = array<i64: 0>} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
%f = "test.op"() : () -> tensor<f32>
// CHECK: pad: expected interior padding of at least 0, found -1
%r = hlo.pad(%f4, %f) {edge_padding_low = array<i64: 0>, edge_padding_high = array<i64: 0>, interior_padding = array<i64: -1>} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
%f = "test.op"() : () -> tensor<f32>
// CHECK: pad: expected padding -3_-3_0 to leave elements of 4, found -2
%r = hlo.pad(%f4, %f) {edge_padding_low = array<i64: -3>, edge_padding_high = array<i64: -3>, interior_padding = array<i64: 0>} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
%f = "test.op"() : () -> tensor<f32>
// CHECK: pad: expected result f32[6], found f32[4]
%r = hlo.pad(%f4, %f) {edge_padding_low = array<i64: 1>, edge_padding_high = array<i64: 1>, interior_padding = array<i64: 0>} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>

// -----

// CHECK: concatenate: expected at least 1 operand, found 0
%r = hlo.concatenate() {dimensions = array<i64: 0>} : () -> tensor<4xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: concatenate: expected dimension in [0, 1), found 1
%r = hlo.concatenate(%f4, %f4) {dimensions = array<i64: 1>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: concatenate: expected dimensions to have one entry, found {0,1}
%r = hlo.concatenate(%f4, %f4) {dimensions = array<i64: 0, 1>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>

// -----

%f23 = "test.op"() : () -> tensor<2x3xf32>
%f32 = "test.op"() : () -> tensor<3x2xf32>
// CHECK: concatenate: expected operands of one shape, found f32[5,3], f32[5,2]
%r = hlo.concatenate(%f23, %f32) {dimensions = array<i64: 0>} : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<4x5xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: concatenate: expected result f32[8], found f32[4]
%r = hlo.concatenate(%f4, %f4) {dimensions = array<i64: 0>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

// -----

%f34 = "test.op"() : () -> tensor<3x4xf32>
%f2 = "test.op"() : () -> tensor<2xf32>
// CHECK: gather: expected element type of indices to be integral, found f32[2]
%r = hlo.gather(%f34, %f2) {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, start_index_map = array<i64: 0>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 4>} : (tensor<3x4xf32>, tensor<2xf32>) -> tensor<2x4xf32>

// -----

%f34 = "test.op"() : () -> tensor<3x4xf32>
%s2 = "test.op"() : () -> tensor<2xi32>
// CHECK: gather: expected index_vector_dim in [0, 2), found 2
%r = hlo.gather(%f34, %s2) {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, start_index_map = array<i64: 0>, index_vector_dim = 2 : i64, slice_sizes = array<i64: 1, 4>} : (tensor<3x4xf32>, tensor<2xi32>) -> tensor<2x4xf32>

// -----

%f34 = "test.op"() : () -> tensor<3x4xf32>
%s2 = "test.op"() : () -> tensor<2xi32>
// CHECK: gather: expected slice_sizes within {3,4}, found {1,5}
%r = hlo.gather(%f34, %s2) {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, start_index_map = array<i64: 0>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 5>} : (tensor<3x4xf32>, tensor<2xi32>) -> tensor<2x4xf32>

// -----

%f34 = "test.op"() : () -> tensor<3x4xf32>
%s2 = "test.op"() : () -> tensor<2xi32>
// CHECK: gather: expected slice size 0 or 1 in collapsed dimension 0, found 2
%r = hlo.gather(%f34, %s2) {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, start_index_map = array<i64: 0>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 2, 4>} : (tensor<3x4xf32>, tensor<2xi32>) -> tensor<2x4xf32>

// -----

%f34 = "test.op"() : () -> tensor<3x4xf32>
%s2 = "test.op"() : () -> tensor<2xi32>
// CHECK: gather: expected 1 dimensions mapped by index vectors, found {0,1}
%r = hlo.gather(%f34, %s2) {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, start_index_map = array<i64: 0, 1>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 4>} : (tensor<3x4xf32>, tensor<2xi32>) -> tensor<2x4xf32>

// -----

%f34 = "test.op"() : () -> tensor<3x4xf32>
%s2 = "test.op"() : () -> tensor<2xi32>
// CHECK: gather: expected start_index_map or scatter_dims_to_operand_dims in [0, 2), found 2
%r = hlo.gather(%f34, %s2) {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, start_index_map = array<i64: 2>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 4>} : (tensor<3x4xf32>, tensor<2xi32>) -> tensor<2x4xf32>

// -----

%f34 = "test.op"() : () -> tensor<3x4xf32>
%s2 = "test.op"() : () -> tensor<2xi32>
// CHECK: gather: expected 1 offset or window dimensions, found 2
%r = hlo.gather(%f34, %s2) {offset_dims = array<i64: 0, 1>, collapsed_slice_dims = array<i64: 0>, start_index_map = array<i64: 0>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 4>} : (tensor<3x4xf32>, tensor<2xi32>) -> tensor<2x4xf32>

// -----

%f34 = "test.op"() : () -> tensor<3x4xf32>
%s2 = "test.op"() : () -> tensor<2xi32>
// CHECK: gather: expected offset or window dims in [0, 2), found 2
%r = hlo.gather(%f34, %s2) {offset_dims = array<i64: 2>, collapsed_slice_dims = array<i64: 0>, start_index_map = array<i64: 0>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 4>} : (tensor<3x4xf32>, tensor<2xi32>) -> tensor<2x4xf32>

// -----

%f34 = "test.op"() : () -> tensor<3x4xf32>
%s2 = "test.op"() : () -> tensor<2xi32>
// CHECK: gather: expected result f32[2,4], found f32[4]
%r = hlo.gather(%f34, %s2) {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, start_index_map = array<i64: 0>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 4>} : (tensor<3x4xf32>, tensor<2xi32>) -> tensor<4xf32>

// -----

%f34 = "test.op"() : () -> tensor<3x4xf32>
%s2 = "test.op"() : () -> tensor<2xi32>
// CHECK: gather: expected batching dimensions of their own, found {0} used twice
%r = hlo.gather(%f34, %s2) {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, start_index_map = array<i64: 0>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 4>, operand_batching_dims = array<i64: 0>, start_indices_batching_dims = array<i64: 0>} : (tensor<3x4xf32>, tensor<2xi32>) -> tensor<2x4xf32>

// -----

%f34 = "test.op"() : () -> tensor<3x4xf32>
%s2 = "test.op"() : () -> tensor<2xi32>
// CHECK: gather: expected batching dimensions of one extent, found 3 and 2
%r = hlo.gather(%f34, %s2) {offset_dims = array<i64>, collapsed_slice_dims = array<i64: 1>, start_index_map = array<i64: 1>, operand_batching_dims = array<i64: 0>, start_indices_batching_dims = array<i64: 0>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 1>} : (tensor<3x4xf32>, tensor<2xi32>) -> tensor<2x4xf32>

// -----

%f34 = "test.op"() : () -> tensor<3x4xf32>
%s2 = "test.op"() : () -> tensor<2xi32>
// CHECK: scatter: expected n inputs, indices, n updates, found 2 operands
%r = hlo.scatter(%f34, %s2) {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64} to_apply {
^bb0(%a5: tensor<f32>, %b5: tensor<f32>):
  %r5 = hlo.add(%a5, %b5) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  hlo.return(%r5) : (tensor<f32>) -> ()
} : (tensor<3x4xf32>, tensor<2xi32>) -> tensor<3x4xf32>

// -----

%f34 = "test.op"() : () -> tensor<3x4xf32>
%s2 = "test.op"() : () -> tensor<2xi32>
%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: scatter: expected updates of rank 2, found 1
%r = hlo.scatter(%f34, %s2, %f4) {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64} to_apply {
^bb0(%a5: tensor<f32>, %b5: tensor<f32>):
  %r5 = hlo.add(%a5, %b5) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  hlo.return(%r5) : (tensor<f32>) -> ()
} : (tensor<3x4xf32>, tensor<2xi32>, tensor<4xf32>) -> tensor<3x4xf32>

// -----

%f34 = "test.op"() : () -> tensor<3x4xf32>
%s2 = "test.op"() : () -> tensor<2xi32>
%f34_ = "test.op"() : () -> tensor<3x4xf32>
// CHECK: scatter: expected updates for indices {2}, found {3}
%r = hlo.scatter(%f34, %s2, %f34_) {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64} to_apply {
^bb0(%a5: tensor<f32>, %b5: tensor<f32>):
  %r5 = hlo.add(%a5, %b5) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  hlo.return(%r5) : (tensor<f32>) -> ()
} : (tensor<3x4xf32>, tensor<2xi32>, tensor<3x4xf32>) -> tensor<3x4xf32>

// -----

%f34 = "test.op"() : () -> tensor<3x4xf32>
%s2 = "test.op"() : () -> tensor<2xi32>
%w25 = "test.op"() : () -> tensor<2x5xf32>
// CHECK: scatter: expected updates within {4}, found {5}
%r = hlo.scatter(%f34, %s2, %w25) {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64} to_apply {
^bb0(%a5: tensor<f32>, %b5: tensor<f32>):
  %r5 = hlo.add(%a5, %b5) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  hlo.return(%r5) : (tensor<f32>) -> ()
} : (tensor<3x4xf32>, tensor<2xi32>, tensor<2x5xf32>) -> tensor<3x4xf32>

// -----

%f34 = "test.op"() : () -> tensor<3x4xf32>
%s2 = "test.op"() : () -> tensor<2xi32>
%s24 = "test.op"() : () -> tensor<2x4xi32>
// CHECK: scatter: expected updates f32[2,4], found s32[2,4]
%r = hlo.scatter(%f34, %s2, %s24) {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64} to_apply {
^bb0(%a5: tensor<f32>, %b5: tensor<f32>):
  %r5 = hlo.add(%a5, %b5) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  hlo.return(%r5) : (tensor<f32>) -> ()
} : (tensor<3x4xf32>, tensor<2xi32>, tensor<2x4xi32>) -> tensor<3x4xf32>

// -----

%f34 = "test.op"() : () -> tensor<3x4xf32>
%s2 = "test.op"() : () -> tensor<2xi32>
%f24 = "test.op"() : () -> tensor<2x4xf32>
// CHECK: scatter: expected to_apply to take 2 parameters, found 1
%r = hlo.scatter(%f34, %s2, %f24) {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64} to_apply {
^bb0(%a6: tensor<f32>):
  %r6 = hlo.negate(%a6) : (tensor<f32>) -> tensor<f32>
  hlo.return(%r6) : (tensor<f32>) -> ()
} : (tensor<3x4xf32>, tensor<2xi32>, tensor<2x4xf32>) -> tensor<3x4xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: get-dimension-size: expected dimension in [0, 1), found 1
%r = hlo.get_dimension_size(%f4) {dimensions = array<i64: 1>} : (tensor<4xf32>) -> tensor<i32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: get-dimension-size: expected result s32[], found f32[]
%r = hlo.get_dimension_size(%f4) {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
%u = "test.op"() : () -> tensor<ui32>
// CHECK: set-dimension-size: expected size s32[], found u32[]
%r = hlo.set_dimension_size(%f4, %u) {dimensions = array<i64: 0>} : (tensor<4xf32>, tensor<ui32>) -> tensor<?xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
%s = "test.op"() : () -> tensor<i32>
// CHECK: set-dimension-size: expected dimension in [0, 1), found 1
%r = hlo.set_dimension_size(%f4, %s) {dimensions = array<i64: 1>} : (tensor<4xf32>, tensor<i32>) -> tensor<?xf32>
