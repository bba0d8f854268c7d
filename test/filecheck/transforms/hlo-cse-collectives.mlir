// RUN: xneuron-opt %s -p hlo-cse --split-input-file | filecheck %s

!v = tensor<4xf32>
!w = tensor<8xf32>

// On a channel, a collective of a module that is not SPMD is an effect. Without one, it merges; groups count by what they
// mean, however they are spelled.

// CHECK-LABEL: @not_spmd
// CHECK: hlo.tuple(%a, %a, %a, %d, %e, %f, %g)
builtin.module {
  func.func @not_spmd(%x: !v) -> tuple<tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>> {
    %a = hlo.all_gather(%x) {dimensions = array<i64: 0>, replica_groups = #hlo.replica_groups<"{{0,1},{2,3}}">} : (!v) -> !w
    %b = hlo.all_gather(%x) {dimensions = array<i64: 0>, replica_groups = #hlo.replica_groups<"[2,2]<=[4]">} : (!v) -> !w
    %c = hlo.all_gather(%x) {dimensions = array<i64: 0>, replica_groups = #hlo.replica_groups<"mesh['x'=2,'y'=2] {'y'}">} : (!v) -> !w
    %d = hlo.all_gather(%x) {dimensions = array<i64: 0>, replica_groups = #hlo.replica_groups<"[2,2]<=[2,2]T(1,0)">} : (!v) -> !w
    %e = hlo.all_gather(%x) {dimensions = array<i64: 0>, replica_groups = #hlo.replica_groups<"[2,2]<=[4]">, channel_id = 1 : i64} : (!v) -> !w
    %f = hlo.all_gather(%x) {dimensions = array<i64: 0>, replica_groups = #hlo.replica_groups<"[2,2]<=[4]">, channel_id = 1 : i64} : (!v) -> !w
    %g = hlo.all_gather(%x) {dimensions = array<i64: 0>, replica_groups = #hlo.replica_groups<"[2,2]<=[4]">, constrain_layout} : (!v) -> !w
    %t = hlo.tuple(%a, %b, %c, %d, %e, %f, %g) : (!w, !w, !w, !w, !w, !w, !w) -> tuple<tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>>
    func.return %t : tuple<tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>>
  }
}

// -----

// In an SPMD module the same channel is the same collective; another channel is another, and so is another reduction.

// CHECK-LABEL: @spmd
// CHECK: hlo.tuple(%a, %a, %c, %d, %e, %f)
builtin.module attributes {hlo.num_partitions = 2 : i64} {
  func.func @spmd(%x: tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>> {
    %a = hlo.all_reduce(%x) {channel_id = 1 : i64} to_apply {
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = hlo.add(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      hlo.return(%s) : (tensor<f32>) -> ()
    } : (tensor<4xf32>) -> tensor<4xf32>
    %b = hlo.all_reduce(%x) {channel_id = 1 : i64} to_apply {
    ^bb0(%u: tensor<f32>, %v: tensor<f32>):
      %s = hlo.add(%v, %u) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      hlo.return(%s) : (tensor<f32>) -> ()
    } : (tensor<4xf32>) -> tensor<4xf32>
    %c = hlo.all_reduce(%x) {channel_id = 2 : i64} to_apply {
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = hlo.add(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      hlo.return(%s) : (tensor<f32>) -> ()
    } : (tensor<4xf32>) -> tensor<4xf32>
    %d = hlo.all_reduce(%x) {channel_id = 1 : i64} to_apply {
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = hlo.maximum(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      hlo.return(%s) : (tensor<f32>) -> ()
    } : (tensor<4xf32>) -> tensor<4xf32>
    %e = hlo.collective_broadcast(%x) {channel_id = 3 : i64} : (tensor<4xf32>) -> tensor<4xf32>
    %f = hlo.collective_broadcast(%x) {channel_id = 3 : i64} : (tensor<4xf32>) -> tensor<4xf32>
    %t = hlo.tuple(%a, %b, %c, %d, %e, %f) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>>
    func.return %t : tuple<tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>>
  }
}
