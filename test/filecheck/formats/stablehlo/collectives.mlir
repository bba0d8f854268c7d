// REQUIRES: jaxlib
// RUN: xneuron-opt %s -t hlo | filecheck %s

module @collectives attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 2 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  func.func @main(%a: tensor<4x6xf32>, %b: tensor<2xf32>, %t: !stablehlo.token) -> tensor<4x6xf32> {
    // CHECK: HloModule collectives, {{.*}}replica_count=2, num_partitions=4, frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["x"=2, "y"=2]>}}
    %0:2 = "stablehlo.all_reduce"(%a, %b) <{channel_handle = #stablehlo.channel_handle<handle = 7, type = 1>, replica_groups = dense<[[0, 2], [1, 3], [4, 6], [5, 7]]> : tensor<4x2xi64>, use_global_device_ids}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %m = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %m : tensor<f32>
    }) : (tensor<4x6xf32>, tensor<2xf32>) -> (tensor<4x6xf32>, tensor<2xf32>)
    // CHECK: %all-reduce = (f32[4,6]{1,0}, f32[2]{0}) all-reduce(%a, %b), channel_id=7, replica_groups={{[{][{]}}0,2},{1,3},{4,6},{5,7}}, use_global_device_ids=true, to_apply=%all-reduce_computation
    // CHECK-NEXT: get-tuple-element(%all-reduce), index=0
    // CHECK-NEXT: get-tuple-element(%all-reduce), index=1
    %1 = "stablehlo.all_gather"(%a) <{all_gather_dim = 1 : i64, replica_groups = dense<> : tensor<0x0xi64>}> : (tensor<4x6xf32>) -> tensor<4x12xf32>
    // CHECK-NEXT: %all-gather = f32[4,12]{1,0} all-gather(%a), replica_groups={}, dimensions={1}
    %2 = "stablehlo.reduce_scatter"(%a) <{scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %m = stablehlo.maximum %x, %y : tensor<f32>
      stablehlo.return %m : tensor<f32>
    }) : (tensor<4x6xf32>) -> tensor<2x6xf32>
    // CHECK-NEXT: %reduce-scatter = f32[2,6]{1,0} reduce-scatter(%a), replica_groups={{[{][{]}}0,1}}, dimensions={0}, to_apply=%reduce-scatter_computation
    // Parts that are joined along another dimension are moved there.
    %3 = "stablehlo.all_to_all"(%a) <{split_dimension = 0 : i64, concat_dimension = 1 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x6xf32>) -> tensor<2x12xf32>
    // CHECK-NEXT: %all-to-all = f32[4,6]{1,0} all-to-all(%a), replica_groups={{[{][{]}}0,1}}, dimensions={0}
    // CHECK-NEXT: %reshape = f32[2,2,6]{2,1,0} reshape(%all-to-all)
    // CHECK-NEXT: %transpose = f32[2,2,6]{2,1,0} transpose(%reshape), dimensions={1,0,2}
    // CHECK-NEXT: %reshape.1 = f32[2,12]{1,0} reshape(%transpose)
    %4 = "stablehlo.collective_permute"(%a) <{source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 9, type = 1>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    // CHECK-NEXT: %collective-permute = f32[4,6]{1,0} collective-permute(%a), channel_id=9, source_target_pairs={{[{][{]}}0,1},{1,0}}
    %5 = "stablehlo.collective_broadcast"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    // CHECK-NEXT: collective-broadcast(%a), replica_groups={{[{][{]}}0,1}}
    %6 = "stablehlo.send"(%b, %t) <{channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>, is_host_transfer = false, source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
    // CHECK-NEXT: %send = (f32[2]{0}, u32[], token[]) send(%b, %t), channel_id=3, frontend_attributes={_xla_send_recv_source_target_pairs={{[{][{]}}0,1}}}
    // CHECK-NEXT: %send-done = token[] send-done(%send), channel_id=3
    %7:2 = "stablehlo.recv"(%6) <{channel_handle = #stablehlo.channel_handle<handle = 4, type = 3>, is_host_transfer = true}> : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
    // CHECK-NEXT: %recv = (f32[2]{0}, u32[], token[]) recv(%send-done), channel_id=4, is_host_transfer=true
    // CHECK-NEXT: %recv-done = (f32[2]{0}, token[]) recv-done(%recv), channel_id=4, is_host_transfer=true
    %8 = stablehlo.partition_id : tensor<ui32>
    // CHECK: u32[] partition-id()
    %9 = sdy.sharding_constraint %0#0 <@mesh, [{"y"}, {"x"}]> : tensor<4x6xf32>
    // CHECK: custom-call({{.*}}), custom_call_target="Sharding", sharding={devices=[2,2]<=[2,2]T(1,0)}, frontend_attributes={xla.sdy.sharding="#sdy.sharding_per_value<[<@mesh, [{\"y\"}, {\"x\"}]>]>"}
    return %9 : tensor<4x6xf32>
  }
}
