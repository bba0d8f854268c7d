// REQUIRES: jaxlib
// RUN: xneuron-opt %s | filecheck %s

// What shard_map prints becomes what one device runs: types are those of its parts, devices are partitions.

module @jit_f attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]>
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  func.func public @main(%a: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<4x6xf32> {jax.result_info = "result[0]"}, tensor<f32> {jax.result_info = "result[1]"}) {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %loop:2 = stablehlo.while(%i = %zero, %c = %a) : tensor<i32>, tensor<4x6xf32>
    cond {
      %n = stablehlo.constant dense<3> : tensor<i32>
      %more = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %turned = sdy.manual_computation(%c) in_shardings=[<@mesh, [{"x"}, {"y"}]>] out_shardings=[<@mesh, [{"x"}, {"y"}]>] manual_axes={"x", "y"} (%part: tensor<2x3xf32>) {
        %p = "stablehlo.collective_permute"(%part) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 2], [2, 0], [1, 3], [3, 1]]> : tensor<4x2xi64>}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
        sdy.return %p : tensor<2x3xf32>
      } : (tensor<4x6xf32>) -> tensor<4x6xf32>
      %half = stablehlo.constant dense<0.5> : tensor<4x6xf32>
      %scaled = stablehlo.multiply %turned, %half : tensor<4x6xf32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %next = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %next, %scaled : tensor<i32>, tensor<4x6xf32>
    }
    %sum = sdy.manual_computation(%loop#1) in_shardings=[<@mesh, [{"x"}, {"y"}]>] out_shardings=[<@mesh, []>] manual_axes={"x", "y"} (%part: tensor<2x3xf32>) {
      %start = stablehlo.constant dense<0.0> : tensor<f32>
      %here = stablehlo.reduce(%part init: %start) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<f32>
      %all = "stablehlo.all_reduce"(%here) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
      ^bb0(%x: tensor<f32>, %y: tensor<f32>):
        %s = stablehlo.add %x, %y : tensor<f32>
        %t = sdy.sharding_constraint %s <@mesh, []> : tensor<f32>
        stablehlo.return %t : tensor<f32>
      }) : (tensor<f32>) -> tensor<f32>
      sdy.return %all : tensor<f32>
    } : (tensor<4x6xf32>) -> tensor<f32>
    %root = stablehlo.sqrt %sum : tensor<f32>
    return %loop#1, %root : tensor<4x6xf32>, tensor<f32>
  }
}

// CHECK:      builtin.module @jit_f attributes {xneuron.meshes = "{empty_mesh = #sdy.mesh<[]>, mesh = #sdy.mesh<[\22x\22=2, \22y\22=2]>}", hlo.num_partitions = 4 : i64} {
// CHECK-NEXT:   func.func @main(%a: tensor<2x3xf32> {xneuron.in_sharding = "#sdy.sharding<@mesh, [{\22x\22}, {\22y\22}]>"}) -> tuple<tensor<2x3xf32>, tensor<f32>> attributes {jax.result_info = ["result[0]", "result[1]"], xneuron.out_sharding = ["#sdy.sharding<@mesh, [{\22x\22}, {\22y\22}]>", "#sdy.sharding<@mesh, []>"]} {
// CHECK:          hlo.while(
// CHECK:            hlo.collective_permute(%c{{.*}}) {channel_id = 1 : i64, source_target_pairs = [array<i64: 0, 2>, array<i64: 2, 0>, array<i64: 1, 3>, array<i64: 3, 1>]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK:            %half = hlo.broadcast({{.*}}) {dimensions = array<i64>} : (tensor<f32>) -> tensor<2x3xf32>
// CHECK-NEXT:       %scaled = hlo.multiply({{.*}}, %half) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK:          %here = hlo.reduce(
// CHECK:          %all = hlo.all_reduce(%here) {channel_id = 1 : i64, replica_groups = #hlo.replica_groups<"{{[{][{]}}0,1,2,3}}">, use_global_device_ids
// CHECK:            %s = hlo.add(%x, %y)
// CHECK-NEXT:       hlo.return(%s)
// CHECK:          %root = hlo.sqrt(%all) : (tensor<f32>) -> tensor<f32>
