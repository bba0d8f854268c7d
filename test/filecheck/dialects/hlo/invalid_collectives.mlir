// RUN: xdsl-opt %s --split-input-file --verify-diagnostics | filecheck %s

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: all-gather: expected result f32[8], found f32[4]
%r = hlo.all_gather(%f4) {replica_groups = #hlo.replica_groups<"{{0,1},{2,3}}">, dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: all-gather: expected dimension in [0, 1), found 1
%r = hlo.all_gather(%f4) {replica_groups = #hlo.replica_groups<"{{0,1},{2,3}}">, dimensions = array<i64: 1>} : (tensor<4xf32>) -> tensor<8xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: all-gather: expected a multiple of f32[4] along 0, found f32[6]
%r = hlo.all_gather(%f4) {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<6xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: all-gather: expected a multiple of 2 participants, found 3
%r = hlo.all_gather(%f4) {channel_id = 1 : i64, replica_groups = #hlo.replica_groups<"{{0,1},{2,3}}">, dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<12xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: all-gather: expected one number of participants, found {2,3}
%r = hlo.all_gather(%f4, %f4) {dimensions = array<i64: 0>} : (tensor<4xf32>, tensor<4xf32>) -> tuple<tensor<8xf32>, tensor<12xf32>>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: all-gather: expected replica groups of one size, found {2,1}
%r = hlo.all_gather(%f4) {replica_groups = #hlo.replica_groups<"{{0,1},{2}}">, dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<8xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: all-gather: expected each replica in one group, found 0 repeated
%r = hlo.all_gather(%f4) {replica_groups = #hlo.replica_groups<"{{0,0}}">, dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<8xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: all-gather: expected replica groups to name all of [0, 2), found no 1
%r = hlo.all_gather(%f4) {replica_groups = #hlo.replica_groups<"{{0,2}}">, dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<8xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: all-gather: expected no empty replica group, found one
%r = hlo.all_gather(%f4) {replica_groups = #hlo.replica_groups<"{{},{0}}">, dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<8xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: all-gather: expected channel_id where use_global_device_ids is set
%r = hlo.all_gather(%f4) {replica_groups = #hlo.replica_groups<"{{0,1},{2,3}}">, use_global_device_ids, dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<8xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: all-gather: expected replica_groups where use_global_device_ids is set
%r = hlo.all_gather(%f4) {channel_id = 1 : i64, use_global_device_ids, dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<8xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: all-gather: expected channel_id of at least 0, found -1
%r = hlo.all_gather(%f4) {channel_id = -1 : i64, replica_groups = #hlo.replica_groups<"{{0,1},{2,3}}">, dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<8xf32>

// -----

// CHECK: all-gather: expected at least 1 operand, found 0
%r = hlo.all_gather() {replica_groups = #hlo.replica_groups<"{{0,1},{2,3}}">, dimensions = array<i64: 0>} : () -> tensor<8xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: all-gather-start: expected 2 elements in result, found 3
%r = hlo.all_gather_start(%f4) {replica_groups = #hlo.replica_groups<"{{0,1},{2,3}}">, dimensions = array<i64: 0>} : (tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<8xf32>, tensor<ui32>>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: all-gather-start: expected operands in the result f32[4], found f32[8]
%r = hlo.all_gather_start(%f4) {replica_groups = #hlo.replica_groups<"{{0,1},{2,3}}">, dimensions = array<i64: 0>} : (tensor<4xf32>) -> tuple<tensor<8xf32>, tensor<8xf32>>

// -----

%f4x2 = "test.op"() : () -> tuple<tensor<4xf32>, tensor<4xf32>>
// CHECK: all-gather-done: expected the operand to be all-gather-start, found test.op
%r = hlo.all_gather_done(%f4x2) : (tuple<tensor<4xf32>, tensor<4xf32>>) -> tensor<4xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: all-reduce: expected result f32[4], found f32[8]
%r = hlo.all_reduce(%f4) {replica_groups = #hlo.replica_groups<"{{0,1},{2,3}}">} to_apply {
^bb0(%a5: tensor<f32>, %b5: tensor<f32>):
  %r5 = hlo.add(%a5, %b5) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  hlo.return(%r5) : (tensor<f32>) -> ()
} : (tensor<4xf32>) -> tensor<8xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: all-reduce: expected to_apply to take 2 parameters, found 1
%r = hlo.all_reduce(%f4) {replica_groups = #hlo.replica_groups<"{{0,1},{2,3}}">} to_apply {
^bb0(%a50: tensor<f32>):
  %r50 = hlo.negate(%a50) : (tensor<f32>) -> tensor<f32>
  hlo.return(%r50) : (tensor<f32>) -> ()
} : (tensor<4xf32>) -> tensor<4xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: all-reduce: expected to_apply on elements like f32[4], found s32[]
%r = hlo.all_reduce(%f4) {replica_groups = #hlo.replica_groups<"{{0,1},{2,3}}">} to_apply {
^bb0(%a51: tensor<i32>, %b51: tensor<i32>):
  %r51 = hlo.add(%a51, %b51) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  hlo.return(%r51) : (tensor<i32>) -> ()
} : (tensor<4xf32>) -> tensor<4xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: all-reduce-start: expected each replica in one group, found 1 repeated
%r = hlo.all_reduce_start(%f4) {replica_groups = #hlo.replica_groups<"{{0,1},{1}}">} to_apply {
^bb0(%a5: tensor<f32>, %b5: tensor<f32>):
  %r5 = hlo.add(%a5, %b5) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  hlo.return(%r5) : (tensor<f32>) -> ()
} : (tensor<4xf32>) -> tensor<4xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: all-reduce-done: expected the operand to be all-reduce-start, found test.op
%r = hlo.all_reduce_done(%f4) : (tensor<4xf32>) -> tensor<4xf32>

// -----

%f3 = "test.op"() : () -> tensor<3xf32>
// CHECK: reduce-scatter: expected extent 0 to be a multiple of 2, found f32[3]
%r = hlo.reduce_scatter(%f3) {replica_groups = #hlo.replica_groups<"{{0,1},{2,3}}">, dimensions = array<i64: 0>} to_apply {
^bb0(%a5: tensor<f32>, %b5: tensor<f32>):
  %r5 = hlo.add(%a5, %b5) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  hlo.return(%r5) : (tensor<f32>) -> ()
} : (tensor<3xf32>) -> tensor<3xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: reduce-scatter: expected result f32[2], found f32[4]
%r = hlo.reduce_scatter(%f4) {replica_groups = #hlo.replica_groups<"{{0,1},{2,3}}">, dimensions = array<i64: 0>} to_apply {
^bb0(%a5: tensor<f32>, %b5: tensor<f32>):
  %r5 = hlo.add(%a5, %b5) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  hlo.return(%r5) : (tensor<f32>) -> ()
} : (tensor<4xf32>) -> tensor<4xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: reduce-scatter: expected a multiple of f32[3] along 0, found f32[4]
%r = hlo.reduce_scatter(%f4) {dimensions = array<i64: 0>} to_apply {
^bb0(%a5: tensor<f32>, %b5: tensor<f32>):
  %r5 = hlo.add(%a5, %b5) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  hlo.return(%r5) : (tensor<f32>) -> ()
} : (tensor<4xf32>) -> tensor<3xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: all-to-all: expected 2 operands, found 1
%r = hlo.all_to_all(%f4) {replica_groups = #hlo.replica_groups<"{{0,1},{2,3}}">} : (tensor<4xf32>) -> tuple<tensor<4xf32>>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
%f3 = "test.op"() : () -> tensor<3xf32>
// CHECK: all-to-all: expected operands of one shape, found f32[4], f32[3]
%r = hlo.all_to_all(%f4, %f3) {replica_groups = #hlo.replica_groups<"{{0,1},{2,3}}">} : (tensor<4xf32>, tensor<3xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>>

// -----

%f3 = "test.op"() : () -> tensor<3xf32>
// CHECK: all-to-all: expected extent 0 to be a multiple of 2, found f32[3]
%r = hlo.all_to_all(%f3) {replica_groups = #hlo.replica_groups<"{{0,1},{2,3}}">, dimensions = array<i64: 0>} : (tensor<3xf32>) -> tensor<3xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: all-to-all: expected 1 operands where dimensions is set, found 2
%r = hlo.all_to_all(%f4, %f4) {replica_groups = #hlo.replica_groups<"{{0,1},{2,3}}">, dimensions = array<i64: 0>} : (tensor<4xf32>, tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: ragged-all-to-all: expected 6 operands, found 2
%r = hlo.ragged_all_to_all(%f4, %f4) {replica_groups = #hlo.replica_groups<"{{0,1},{2,3}}">} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
%s2 = "test.op"() : () -> tensor<2xi32>
%s3 = "test.op"() : () -> tensor<3xi32>
// CHECK: ragged-all-to-all: expected offsets and sizes s32[2], found s32[3]
%r = hlo.ragged_all_to_all(%f4, %f4, %s2, %s3, %s2, %s2) {replica_groups = #hlo.replica_groups<"{{0,1},{2,3}}">} : (tensor<4xf32>, tensor<4xf32>, tensor<2xi32>, tensor<3xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<4xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: collective-broadcast: expected result f32[4], found f32[3]
%r = hlo.collective_broadcast(%f4) {replica_groups = #hlo.replica_groups<"{{0,1},{2,3}}">} : (tensor<4xf32>) -> tensor<3xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: collective-broadcast: expected an operand and a root, found 1 operand
%r = hlo.collective_broadcast(%f4) {replica_groups = #hlo.replica_groups<"{{0,1},{2,3}}">, has_dynamic_root} : (tensor<4xf32>) -> tensor<4xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: collective-broadcast: expected each replica in one group, found 1 repeated
%r = hlo.collective_broadcast(%f4) {replica_groups = #hlo.replica_groups<"{{1,1}}">} : (tensor<4xf32>) -> tensor<4xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: collective-permute: expected source-target pairs of two ids of at least 0, found {0}
%r = hlo.collective_permute(%f4) {source_target_pairs = [array<i64: 0>]} : (tensor<4xf32>) -> tensor<4xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: collective-permute: expected each source in at most 1 source-target pairs, found 0 in 2
%r = hlo.collective_permute(%f4) {source_target_pairs = [array<i64: 0, 1>, array<i64: 0, 2>]} : (tensor<4xf32>) -> tensor<4xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: collective-permute: expected each target in at most 1 source-target pairs, found 2 in 2
%r = hlo.collective_permute(%f4) {source_target_pairs = [array<i64: 0, 2>, array<i64: 1, 2>]} : (tensor<4xf32>) -> tensor<4xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: collective-permute: expected 4 operands where slice_sizes is set, found 1
%r = hlo.collective_permute(%f4) {source_target_pairs = [array<i64: 0, 1>], slice_sizes = [array<i64: 1>]} : (tensor<4xf32>) -> tensor<4xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: collective-permute-start: expected result starting with (f32[4], f32[4]), found (f32[4], s32[])
%r = hlo.collective_permute_start(%f4) {source_target_pairs = [array<i64: 0, 1>]} : (tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<i32>>

// -----

%f4x2 = "test.op"() : () -> tuple<tensor<4xf32>, tensor<4xf32>>
// CHECK: collective-permute-done: expected the operand to be collective-permute-start, found test.op
%r = hlo.collective_permute_done(%f4x2) : (tuple<tensor<4xf32>, tensor<4xf32>>) -> tensor<4xf32>

// -----

// CHECK: partition-id: expected result u32[], found s32[]
%r = hlo.partition_id() : () -> tensor<i32>

// -----

// CHECK: replica-id: expected result u32[], found s32[]
%r = hlo.replica_id() : () -> tensor<i32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: send: expected second operand token[], found f32[4]
%r = hlo.send(%f4, %f4) : (tensor<4xf32>, tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<ui32>, !hlo.token>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: send: expected 2 operands, found 1
%r = hlo.send(%f4) : (tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<ui32>, !hlo.token>

// -----

%f4x2 = "test.op"() : () -> tuple<tensor<4xf32>, tensor<4xf32>>
// CHECK: send-done: expected 3 elements in operand, found 2
%r = hlo.send_done(%f4x2) : (tuple<tensor<4xf32>, tensor<4xf32>>) -> !hlo.token

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: recv: expected operand token[], found f32[4]
%r = hlo.recv(%f4) : (tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<ui32>, !hlo.token>

// -----

%tok = "test.op"() : () -> !hlo.token
// CHECK: recv: expected 3 elements in result, found 2
%r = hlo.recv(%tok) : (!hlo.token) -> tuple<tensor<4xf32>, tensor<4xf32>>

// -----

%send = "test.op"() : () -> tuple<tensor<4xf32>, tensor<ui32>, !hlo.token>
// CHECK: recv-done: expected result (f32[4], token[]), found f32[4]
%r = hlo.recv_done(%send) : (tuple<tensor<4xf32>, tensor<ui32>, !hlo.token>) -> tensor<4xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: infeed: expected operand token[], found f32[4]
%r = hlo.infeed(%f4) : (tensor<4xf32>) -> tuple<tensor<4xf32>, !hlo.token>

// -----

%tok = "test.op"() : () -> !hlo.token
// CHECK: infeed: expected result ending with token[], found f32[4]
%r = hlo.infeed(%tok) : (!hlo.token) -> tuple<tensor<4xf32>, tensor<4xf32>>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: outfeed: expected second operand token[], found f32[4]
%r = hlo.outfeed(%f4, %f4) : (tensor<4xf32>, tensor<4xf32>) -> !hlo.token

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
%tok = "test.op"() : () -> !hlo.token
// CHECK: outfeed: expected operand of outfeed_shape f32[3], found f32[4]
%r = hlo.outfeed(%f4, %tok) {outfeed_shape = tensor<3xf32>} : (tensor<4xf32>, !hlo.token) -> !hlo.token
