// REQUIRES: jaxlib
// RUN: xneuron-opt %s -t hlo | filecheck %s

module {
  func.func @main(%x: tensor<1x3xf32>, %t: tensor<5x3xf32>, %i: tensor<2xi32>, %s: tensor<i32>) -> (tensor<2x3x5xf32>, tensor<2x3x5xf32>, tensor<2x3xf32>, tensor<5x3xf32>, tensor<4x4xf32>, tensor<5x2xf32>) {
    // Dimensions out of order, and one of extent 1 that grows.
    %b = stablehlo.broadcast_in_dim %x, dims = [1, 0] : (tensor<1x3xf32>) -> tensor<3x5xf32>
    // CHECK:      %transpose = f32[3,1]{1,0} transpose(%x), dimensions={1,0}
    // CHECK-NEXT: %reshape = f32[3]{0} reshape(%transpose)
    // CHECK-NEXT: %b = f32[3,5]{1,0} broadcast(%reshape), dimensions={0}
    %c = stablehlo.broadcast %b, sizes = [2] : (tensor<3x5xf32>) -> tensor<2x3x5xf32>
    // CHECK-NEXT: %c = f32[2,3,5]{2,1,0} broadcast(%b), dimensions={1,2}
    %splat = stablehlo.constant dense<0.5> : tensor<2x3x5xf32>
    // CHECK-NEXT: %constant = f32[] constant(0.5)
    // CHECK-NEXT: %splat = f32[2,3,5]{2,1,0} broadcast(%constant), dimensions={}
    %rows = "stablehlo.gather"(%t, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>, indices_are_sorted = true}> : (tensor<5x3xf32>, tensor<2xi32>) -> tensor<2x3xf32>
    // CHECK-NEXT: %rows = f32[2,3]{1,0} gather(%t, %i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,3}, indices_are_sorted=true
    %cut = stablehlo.slice %t [1:5:2, 0:3] : (tensor<5x3xf32>) -> tensor<2x3xf32>
    // CHECK-NEXT: %cut = f32[2,3]{1,0} slice(%t), slice={[1:5:2], [0:3]}
    %moved = stablehlo.dynamic_slice %t, %s, %s, sizes = [2, 3] : (tensor<5x3xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
    // CHECK-NEXT: %moved = f32[2,3]{1,0} dynamic-slice(%t, %s, %s), dynamic_slice_sizes={2,3}
    %put = stablehlo.dynamic_update_slice %t, %moved, %s, %s : (tensor<5x3xf32>, tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<5x3xf32>
    // CHECK-NEXT: %put = f32[5,3]{1,0} dynamic-update-slice(%t, %moved, %s, %s)
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %padded = stablehlo.pad %cut, %z, low = [1, -1], high = [0, 2], interior = [1, 0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<4x4xf32>
    // CHECK:      %padded = f32[4,4]{1,0} pad(%cut, %z), padding=1_0_1x-1_2_0
    %k = stablehlo.einsum %cut, %t, config = "ab,cb->ca" : (tensor<2x3xf32>, tensor<5x3xf32>) -> tensor<5x2xf32>
    // CHECK:      %dot = f32[2,5]{1,0} dot(%cut, %t), lhs_contracting_dims={1}, rhs_contracting_dims={1}
    // CHECK-NEXT: %k = f32[5,2]{1,0} transpose(%dot), dimensions={1,0}
    return %c, %splat, %rows, %put, %padded, %k : tensor<2x3x5xf32>, tensor<2x3x5xf32>, tensor<2x3xf32>, tensor<5x3xf32>, tensor<4x4xf32>, tensor<5x2xf32>
  }
}
