// RUN: XNEURON_ROUNDTRIP

// Collectives, transfers, and what talks to the host.

builtin.module {
  func.func private @collectives(%f4: tensor<4xf32>, %h4: tensor<4xbf16>, %f8: tensor<8xf32>, %s2: tensor<2xi32>, %s: tensor<i32>, %tok: !hlo.token, %sent: tuple<tensor<4xf32>, tensor<ui32>, !hlo.token>) {
    // CHECK: %all_gather = hlo.all_gather(%f4) {replica_groups = #hlo.replica_groups<"{{[{]}}{0,1},{2,3}}">, dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<8xf32>
    %all_gather = hlo.all_gather(%f4) {replica_groups = #hlo.replica_groups<"{{0,1},{2,3}}">, dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<8xf32>

    // CHECK: %several_gathered = hlo.all_gather(%f4, %f4) {channel_id = 3 : i64, replica_groups = #hlo.replica_groups<"[2,2]<=[4]">, constrain_layout, use_global_device_ids, dimensions = array<i64: 0>} : (tensor<4xf32>, tensor<4xf32>) -> tuple<tensor<8xf32>, tensor<8xf32>>
    %several_gathered = hlo.all_gather(%f4, %f4) {channel_id = 3 : i64, replica_groups = #hlo.replica_groups<"[2,2]<=[4]">, constrain_layout, use_global_device_ids, dimensions = array<i64: 0>} : (tensor<4xf32>, tensor<4xf32>) -> tuple<tensor<8xf32>, tensor<8xf32>>

    // Without groups any number of participants may meet.
    // CHECK: %all_partitions = hlo.all_gather(%f4) {channel_id = 1 : i64, dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<12xf32>
    %all_partitions = hlo.all_gather(%f4) {channel_id = 1 : i64, dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<12xf32>

    // CHECK: %all_gather_start = hlo.all_gather_start(%f4) {replica_groups = #hlo.replica_groups<"{{[{]}}{0,1},{2,3}}">, dimensions = array<i64: 0>} : (tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<8xf32>>
    %all_gather_start = hlo.all_gather_start(%f4) {replica_groups = #hlo.replica_groups<"{{0,1},{2,3}}">, dimensions = array<i64: 0>} : (tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<8xf32>>

    // CHECK: %all_gather_done = hlo.all_gather_done(%all_gather_start) : (tuple<tensor<4xf32>, tensor<8xf32>>) -> tensor<8xf32>
    %all_gather_done = hlo.all_gather_done(%all_gather_start) : (tuple<tensor<4xf32>, tensor<8xf32>>) -> tensor<8xf32>

    // CHECK: %all_reduce = hlo.all_reduce(%f4) {channel_id = 2 : i64, replica_groups = #hlo.replica_groups<"{{[{]}}{0,1},{2,3}}">} to_apply {
    // CHECK-NEXT: ^bb0(%a22: tensor<f32>, %b22: tensor<f32>):
    // CHECK-NEXT: %r22 = hlo.add(%a22, %b22) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    // CHECK-NEXT: hlo.return(%r22) : (tensor<f32>) -> ()
    // CHECK-NEXT: } : (tensor<4xf32>) -> tensor<4xf32>
    %all_reduce = hlo.all_reduce(%f4) {channel_id = 2 : i64, replica_groups = #hlo.replica_groups<"{{0,1},{2,3}}">} to_apply {
    ^bb0(%a22: tensor<f32>, %b22: tensor<f32>):
      %r22 = hlo.add(%a22, %b22) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      hlo.return(%r22) : (tensor<f32>) -> ()
    } : (tensor<4xf32>) -> tensor<4xf32>

    // CHECK: %several_reduced = hlo.all_reduce(%f4, %h4) to_apply {
    // CHECK-NEXT: ^bb0(%a23: tensor<f32>, %b23: tensor<f32>):
    // CHECK-NEXT: %r23 = hlo.add(%a23, %b23) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    // CHECK-NEXT: hlo.return(%r23) : (tensor<f32>) -> ()
    // CHECK-NEXT: } : (tensor<4xf32>, tensor<4xbf16>) -> tuple<tensor<4xf32>, tensor<4xbf16>>
    %several_reduced = hlo.all_reduce(%f4, %h4) to_apply {
    ^bb0(%a23: tensor<f32>, %b23: tensor<f32>):
      %r23 = hlo.add(%a23, %b23) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      hlo.return(%r23) : (tensor<f32>) -> ()
    } : (tensor<4xf32>, tensor<4xbf16>) -> tuple<tensor<4xf32>, tensor<4xbf16>>

    // CHECK: %all_reduce_start = hlo.all_reduce_start(%f4) {replica_groups = #hlo.replica_groups<"{{[{]}}{0},{1,2}}">} to_apply {
    // CHECK-NEXT: ^bb0(%a24: tensor<f32>, %b24: tensor<f32>):
    // CHECK-NEXT: %r24 = hlo.add(%a24, %b24) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    // CHECK-NEXT: hlo.return(%r24) : (tensor<f32>) -> ()
    // CHECK-NEXT: } : (tensor<4xf32>) -> tensor<4xf32>
    %all_reduce_start = hlo.all_reduce_start(%f4) {replica_groups = #hlo.replica_groups<"{{0},{1,2}}">} to_apply {
    ^bb0(%a24: tensor<f32>, %b24: tensor<f32>):
      %r24 = hlo.add(%a24, %b24) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      hlo.return(%r24) : (tensor<f32>) -> ()
    } : (tensor<4xf32>) -> tensor<4xf32>

    // CHECK: %all_reduce_done = hlo.all_reduce_done(%all_reduce_start) : (tensor<4xf32>) -> tensor<4xf32>
    %all_reduce_done = hlo.all_reduce_done(%all_reduce_start) : (tensor<4xf32>) -> tensor<4xf32>

    // CHECK: %reduce_scatter = hlo.reduce_scatter(%f8) {replica_groups = #hlo.replica_groups<"{{[{]}}{0,1},{2,3}}">, dimensions = array<i64: 0>} to_apply {
    // CHECK-NEXT: ^bb0(%a25: tensor<f32>, %b25: tensor<f32>):
    // CHECK-NEXT: %r25 = hlo.add(%a25, %b25) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    // CHECK-NEXT: hlo.return(%r25) : (tensor<f32>) -> ()
    // CHECK-NEXT: } : (tensor<8xf32>) -> tensor<4xf32>
    %reduce_scatter = hlo.reduce_scatter(%f8) {replica_groups = #hlo.replica_groups<"{{0,1},{2,3}}">, dimensions = array<i64: 0>} to_apply {
    ^bb0(%a25: tensor<f32>, %b25: tensor<f32>):
      %r25 = hlo.add(%a25, %b25) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      hlo.return(%r25) : (tensor<f32>) -> ()
    } : (tensor<8xf32>) -> tensor<4xf32>

    // CHECK: %all_to_all = hlo.all_to_all(%f4, %f4) {replica_groups = #hlo.replica_groups<"{{[{]}}{0,1},{2,3}}">} : (tensor<4xf32>, tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>>
    %all_to_all = hlo.all_to_all(%f4, %f4) {replica_groups = #hlo.replica_groups<"{{0,1},{2,3}}">} : (tensor<4xf32>, tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>>

    // CHECK: %split = hlo.all_to_all(%f4) {replica_groups = #hlo.replica_groups<"{{[{]}}{0,1},{2,3}}">, dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
    %split = hlo.all_to_all(%f4) {replica_groups = #hlo.replica_groups<"{{0,1},{2,3}}">, dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>

    // CHECK: %ragged_all_to_all = hlo.ragged_all_to_all(%f8, %f4, %s2, %s2, %s2, %s2) {replica_groups = #hlo.replica_groups<"{{[{]}}{0,1},{2,3}}">} : (tensor<8xf32>, tensor<4xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<4xf32>
    %ragged_all_to_all = hlo.ragged_all_to_all(%f8, %f4, %s2, %s2, %s2, %s2) {replica_groups = #hlo.replica_groups<"{{0,1},{2,3}}">} : (tensor<8xf32>, tensor<4xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<4xf32>

    // CHECK: %collective_broadcast = hlo.collective_broadcast(%f4) {channel_id = 4 : i64, replica_groups = #hlo.replica_groups<"{{[{]}}{0,1},{2,3}}">} : (tensor<4xf32>) -> tensor<4xf32>
    %collective_broadcast = hlo.collective_broadcast(%f4) {channel_id = 4 : i64, replica_groups = #hlo.replica_groups<"{{0,1},{2,3}}">} : (tensor<4xf32>) -> tensor<4xf32>

    // Who is in no group gets zeros.
    // CHECK: %rooted = hlo.collective_broadcast(%f4, %s) {replica_groups = #hlo.replica_groups<"{{[{]}}{1,2}}">, has_dynamic_root} : (tensor<4xf32>, tensor<i32>) -> tensor<4xf32>
    %rooted = hlo.collective_broadcast(%f4, %s) {replica_groups = #hlo.replica_groups<"{{1,2}}">, has_dynamic_root} : (tensor<4xf32>, tensor<i32>) -> tensor<4xf32>

    // CHECK: %collective_permute = hlo.collective_permute(%f4) {channel_id = 5 : i64, source_target_pairs = [array<i64: 0, 1>, array<i64: 1, 0>]} : (tensor<4xf32>) -> tensor<4xf32>
    %collective_permute = hlo.collective_permute(%f4) {channel_id = 5 : i64, source_target_pairs = [array<i64: 0, 1>, array<i64: 1, 0>]} : (tensor<4xf32>) -> tensor<4xf32>

    // CHECK: %collective_permute_start = hlo.collective_permute_start(%f4) {source_target_pairs = [array<i64: 0, 1>]} : (tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>, tensor<ui32>, tensor<ui32>>
    %collective_permute_start = hlo.collective_permute_start(%f4) {source_target_pairs = [array<i64: 0, 1>]} : (tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>, tensor<ui32>, tensor<ui32>>

    // CHECK: %collective_permute_done = hlo.collective_permute_done(%collective_permute_start) : (tuple<tensor<4xf32>, tensor<4xf32>, tensor<ui32>, tensor<ui32>>) -> tensor<4xf32>
    %collective_permute_done = hlo.collective_permute_done(%collective_permute_start) : (tuple<tensor<4xf32>, tensor<4xf32>, tensor<ui32>, tensor<ui32>>) -> tensor<4xf32>

    // CHECK: %partition_id = hlo.partition_id() : () -> tensor<ui32>
    %partition_id = hlo.partition_id() : () -> tensor<ui32>

    // CHECK: %replica_id = hlo.replica_id() : () -> tensor<ui32>
    %replica_id = hlo.replica_id() : () -> tensor<ui32>

    // CHECK: %send = hlo.send(%f4, %tok) {channel_id = 6 : i64, is_host_transfer} : (tensor<4xf32>, !hlo.token) -> tuple<tensor<4xf32>, tensor<ui32>, !hlo.token>
    %send = hlo.send(%f4, %tok) {channel_id = 6 : i64, is_host_transfer} : (tensor<4xf32>, !hlo.token) -> tuple<tensor<4xf32>, tensor<ui32>, !hlo.token>

    // CHECK: %recv = hlo.recv(%tok) {channel_id = 7 : i64} : (!hlo.token) -> tuple<tensor<4xf32>, tensor<ui32>, !hlo.token>
    %recv = hlo.recv(%tok) {channel_id = 7 : i64} : (!hlo.token) -> tuple<tensor<4xf32>, tensor<ui32>, !hlo.token>

    // CHECK: %send_done = hlo.send_done(%sent) {channel_id = 6 : i64, is_host_transfer} : (tuple<tensor<4xf32>, tensor<ui32>, !hlo.token>) -> !hlo.token
    %send_done = hlo.send_done(%sent) {channel_id = 6 : i64, is_host_transfer} : (tuple<tensor<4xf32>, tensor<ui32>, !hlo.token>) -> !hlo.token

    // CHECK: %recv_done = hlo.recv_done(%sent) {channel_id = 7 : i64} : (tuple<tensor<4xf32>, tensor<ui32>, !hlo.token>) -> tuple<tensor<4xf32>, !hlo.token>
    %recv_done = hlo.recv_done(%sent) {channel_id = 7 : i64} : (tuple<tensor<4xf32>, tensor<ui32>, !hlo.token>) -> tuple<tensor<4xf32>, !hlo.token>

    // CHECK: %infeed = hlo.infeed(%tok) {infeed_config = "ab"} : (!hlo.token) -> tuple<tensor<4xf32>, !hlo.token>
    %infeed = hlo.infeed(%tok) {infeed_config = "ab"} : (!hlo.token) -> tuple<tensor<4xf32>, !hlo.token>

    // CHECK: %outfeed = hlo.outfeed(%f4, %tok) {outfeed_config = "c", outfeed_shape = tensor<4xf32>} : (tensor<4xf32>, !hlo.token) -> !hlo.token
    %outfeed = hlo.outfeed(%f4, %tok) {outfeed_config = "c", outfeed_shape = tensor<4xf32>} : (tensor<4xf32>, !hlo.token) -> !hlo.token
    func.return
  }
}
