// RUN: XNEURON_ROUNDTRIP

// Every operation that moves data.

builtin.module {
  func.func private @data_movement(%f4: tensor<4xf32>, %fs: tuple<tensor<4xf32>, tensor<i32>>, %s4: tensor<4xi32>, %f23: tensor<2x3xf32>, %f3: tensor<3xf32>, %f: tensor<f32>, %f6: tensor<6xf32>, %s: tensor<i32>, %f8: tensor<8xf32>, %s2: tensor<2xi32>, %f22: tensor<2x2xf32>, %f2: tensor<2xf32>, %f34: tensor<3x4xf32>, %f234: tensor<2x3x4xf32>, %s22: tensor<2x2xi32>, %f24: tensor<2x4xf32>) {
    // CHECK: %constant = hlo.constant() {value = #hlo.literal<["1", "2.5", "-inf", "nan"] : tensor<4xf32>>} : () -> tensor<4xf32>
    %constant = hlo.constant() {value = #hlo.literal<["1", "2.5", "-inf", "nan"] : tensor<4xf32>>} : () -> tensor<4xf32>

    // CHECK: %splat = hlo.constant() {value = #hlo.literal<"0" : tensor<4x4xf32>>} : () -> tensor<4x4xf32>
    %splat = hlo.constant() {value = #hlo.literal<"0" : tensor<4x4xf32>>} : () -> tensor<4x4xf32>

    // CHECK: %pair = hlo.constant() {value = #hlo.tuple_literal<[#hlo.literal<"1" : tensor<4xf32>>, #hlo.literal<"2" : tensor<i32>>]>} : () -> tuple<tensor<4xf32>, tensor<i32>>
    %pair = hlo.constant() {value = #hlo.tuple_literal<[#hlo.literal<"1" : tensor<4xf32>>, #hlo.literal<"2" : tensor<i32>>]>} : () -> tuple<tensor<4xf32>, tensor<i32>>

    // CHECK: %iota = hlo.iota() {iota_dimension = 1 : i64} : () -> tensor<2x3xi32>
    %iota = hlo.iota() {iota_dimension = 1 : i64} : () -> tensor<2x3xi32>

    // CHECK: %copy = hlo.copy(%f4) : (tensor<4xf32>) -> tensor<4xf32>
    %copy = hlo.copy(%f4) : (tensor<4xf32>) -> tensor<4xf32>

    // CHECK: %copy_of_tuple = hlo.copy(%fs) : (tuple<tensor<4xf32>, tensor<i32>>) -> tuple<tensor<4xf32>, tensor<i32>>
    %copy_of_tuple = hlo.copy(%fs) : (tuple<tensor<4xf32>, tensor<i32>>) -> tuple<tensor<4xf32>, tensor<i32>>

    // CHECK: %copy_start = hlo.copy_start(%f4) {cross_program_prefetch_index = 0 : i64} : (tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>, tensor<ui32>>
    %copy_start = hlo.copy_start(%f4) {cross_program_prefetch_index = 0 : i64} : (tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>, tensor<ui32>>

    // CHECK: %copy_done = hlo.copy_done(%copy_start) : (tuple<tensor<4xf32>, tensor<4xf32>, tensor<ui32>>) -> tensor<4xf32>
    %copy_done = hlo.copy_done(%copy_start) : (tuple<tensor<4xf32>, tensor<4xf32>, tensor<ui32>>) -> tensor<4xf32>

    // CHECK: %bitcast = hlo.bitcast(%f4) : (tensor<4xf32>) -> tensor<4xui32>
    %bitcast = hlo.bitcast(%f4) : (tensor<4xf32>) -> tensor<4xui32>

    // CHECK: %from_integers = hlo.bitcast(%s4) : (tensor<4xi32>) -> tensor<4xf32>
    %from_integers = hlo.bitcast(%s4) : (tensor<4xi32>) -> tensor<4xf32>

    // CHECK: %flat = hlo.bitcast(%f23) : (tensor<2x3xf32>) -> tensor<6xf32>
    %flat = hlo.bitcast(%f23) : (tensor<2x3xf32>) -> tensor<6xf32>

    // CHECK: %broadcast = hlo.broadcast(%f3) {dimensions = array<i64: 1>} : (tensor<3xf32>) -> tensor<2x3xf32>
    %broadcast = hlo.broadcast(%f3) {dimensions = array<i64: 1>} : (tensor<3xf32>) -> tensor<2x3xf32>

    // CHECK: %fill = hlo.broadcast(%f) {dimensions = array<i64>} : (tensor<f32>) -> tensor<2x3xf32>
    %fill = hlo.broadcast(%f) {dimensions = array<i64>} : (tensor<f32>) -> tensor<2x3xf32>

    // CHECK: %reshape = hlo.reshape(%f23) : (tensor<2x3xf32>) -> tensor<6xf32>
    %reshape = hlo.reshape(%f23) : (tensor<2x3xf32>) -> tensor<6xf32>

    // CHECK: %with_inferred = hlo.reshape(%f23) {inferred_dimension = 0 : i64} : (tensor<2x3xf32>) -> tensor<3x2xf32>
    %with_inferred = hlo.reshape(%f23) {inferred_dimension = 0 : i64} : (tensor<2x3xf32>) -> tensor<3x2xf32>

    // CHECK: %dynamic_reshape = hlo.dynamic_reshape(%f6, %s, %s) : (tensor<6xf32>, tensor<i32>, tensor<i32>) -> tensor<2x?xf32>
    %dynamic_reshape = hlo.dynamic_reshape(%f6, %s, %s) : (tensor<6xf32>, tensor<i32>, tensor<i32>) -> tensor<2x?xf32>

    // CHECK: %transpose = hlo.transpose(%f23) {dimensions = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
    %transpose = hlo.transpose(%f23) {dimensions = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>

    // CHECK: %reverse = hlo.reverse(%f23) {dimensions = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %reverse = hlo.reverse(%f23) {dimensions = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>

    // CHECK: %slice = hlo.slice(%f8) {starts = array<i64: 1>, limits = array<i64: 7>, strides = array<i64: 2>} : (tensor<8xf32>) -> tensor<3xf32>
    %slice = hlo.slice(%f8) {starts = array<i64: 1>, limits = array<i64: 7>, strides = array<i64: 2>} : (tensor<8xf32>) -> tensor<3xf32>

    // CHECK: %dynamic_slice = hlo.dynamic_slice(%f23, %s, %s) {slice_sizes = array<i64: 2, 2>} : (tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<2x2xf32>
    %dynamic_slice = hlo.dynamic_slice(%f23, %s, %s) {slice_sizes = array<i64: 2, 2>} : (tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<2x2xf32>

    // CHECK: %by_vector = hlo.dynamic_slice(%f23, %s2) {slice_sizes = array<i64: 2, 2>} : (tensor<2x3xf32>, tensor<2xi32>) -> tensor<2x2xf32>
    %by_vector = hlo.dynamic_slice(%f23, %s2) {slice_sizes = array<i64: 2, 2>} : (tensor<2x3xf32>, tensor<2xi32>) -> tensor<2x2xf32>

    // CHECK: %dynamic_update_slice = hlo.dynamic_update_slice(%f23, %f22, %s, %s) : (tensor<2x3xf32>, tensor<2x2xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
    %dynamic_update_slice = hlo.dynamic_update_slice(%f23, %f22, %s, %s) : (tensor<2x3xf32>, tensor<2x2xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>

    // CHECK: %update_by_vector = hlo.dynamic_update_slice(%f23, %f22, %s2) : (tensor<2x3xf32>, tensor<2x2xf32>, tensor<2xi32>) -> tensor<2x3xf32>
    %update_by_vector = hlo.dynamic_update_slice(%f23, %f22, %s2) : (tensor<2x3xf32>, tensor<2x2xf32>, tensor<2xi32>) -> tensor<2x3xf32>

    // CHECK: %pad = hlo.pad(%f23, %f) {edge_padding_low = array<i64: 1, -1>, edge_padding_high = array<i64: 0, 0>, interior_padding = array<i64: 1, 0>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<4x2xf32>
    %pad = hlo.pad(%f23, %f) {edge_padding_low = array<i64: 1, -1>, edge_padding_high = array<i64: 0, 0>, interior_padding = array<i64: 1, 0>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<4x2xf32>

    // CHECK: %concatenate = hlo.concatenate(%f4, %f2, %f2) {dimensions = array<i64: 0>} : (tensor<4xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<8xf32>
    %concatenate = hlo.concatenate(%f4, %f2, %f2) {dimensions = array<i64: 0>} : (tensor<4xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<8xf32>

    // CHECK: %gather = hlo.gather(%f34, %s2) {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, start_index_map = array<i64: 0>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 4>, indices_are_sorted} : (tensor<3x4xf32>, tensor<2xi32>) -> tensor<2x4xf32>
    %gather = hlo.gather(%f34, %s2) {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, start_index_map = array<i64: 0>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 4>, indices_are_sorted} : (tensor<3x4xf32>, tensor<2xi32>) -> tensor<2x4xf32>

    // CHECK: %batched_gather = hlo.gather(%f234, %s22) {offset_dims = array<i64: 2>, collapsed_slice_dims = array<i64: 1>, start_index_map = array<i64: 1>, operand_batching_dims = array<i64: 0>, start_indices_batching_dims = array<i64: 0>, index_vector_dim = 2 : i64, slice_sizes = array<i64: 1, 1, 4>} : (tensor<2x3x4xf32>, tensor<2x2xi32>) -> tensor<2x2x4xf32>
    %batched_gather = hlo.gather(%f234, %s22) {offset_dims = array<i64: 2>, collapsed_slice_dims = array<i64: 1>, start_index_map = array<i64: 1>, operand_batching_dims = array<i64: 0>, start_indices_batching_dims = array<i64: 0>, index_vector_dim = 2 : i64, slice_sizes = array<i64: 1, 1, 4>} : (tensor<2x3x4xf32>, tensor<2x2xi32>) -> tensor<2x2x4xf32>

    // CHECK: %scatter = hlo.scatter(%f34, %s2, %f24) {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64, unique_indices} to_apply {
    // CHECK-NEXT: ^bb0(%a2: tensor<f32>, %b2: tensor<f32>):
    // CHECK-NEXT: %r2 = hlo.add(%a2, %b2) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    // CHECK-NEXT: hlo.return(%r2) : (tensor<f32>) -> ()
    // CHECK-NEXT: } : (tensor<3x4xf32>, tensor<2xi32>, tensor<2x4xf32>) -> tensor<3x4xf32>
    %scatter = hlo.scatter(%f34, %s2, %f24) {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64, unique_indices} to_apply {
    ^bb0(%a2: tensor<f32>, %b2: tensor<f32>):
      %r2 = hlo.add(%a2, %b2) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      hlo.return(%r2) : (tensor<f32>) -> ()
    } : (tensor<3x4xf32>, tensor<2xi32>, tensor<2x4xf32>) -> tensor<3x4xf32>

    // CHECK: %get_dimension_size = hlo.get_dimension_size(%f23) {dimensions = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<i32>
    %get_dimension_size = hlo.get_dimension_size(%f23) {dimensions = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<i32>

    // CHECK: %set_dimension_size = hlo.set_dimension_size(%f8, %s) {dimensions = array<i64: 0>} : (tensor<8xf32>, tensor<i32>) -> tensor<?xf32, #hlo.layout<"bounds=[8]">>
    %set_dimension_size = hlo.set_dimension_size(%f8, %s) {dimensions = array<i64: 0>} : (tensor<8xf32>, tensor<i32>) -> tensor<?xf32, #hlo.layout<"bounds=[8]">>
    func.return
  }
}
