// REQUIRES: jaxlib
// RUN: xneuron-opt %s -t hlo | filecheck %s

// Sizes that are constants in fact: a pass of JAX's MLIR makes attributes of them.

module {
  func.func @main(%x: tensor<6xf32>) -> (tensor<2x3xf32>, tensor<2x3xi32>, tensor<2xf32>, tensor<13xf32>, tensor<2x3xf32>) {
    %sizes = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
    %one = stablehlo.constant dense<1> : tensor<1xi64>
    %two = stablehlo.constant dense<2> : tensor<1xi64>
    %five = stablehlo.constant dense<5> : tensor<1xi64>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %a = stablehlo.dynamic_reshape %x, %sizes : (tensor<6xf32>, tensor<2xi64>) -> tensor<2x3xf32>
    %b = stablehlo.dynamic_iota %sizes, dim = 1 : (tensor<2xi64>) -> tensor<2x3xi32>
    %c = stablehlo.real_dynamic_slice %x, %one, %five, %two : (tensor<6xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2xf32>
    %d = stablehlo.dynamic_pad %x, %zero, %one, %one, %one : (tensor<6xf32>, tensor<f32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<13xf32>
    %e = stablehlo.dynamic_broadcast_in_dim %c, %sizes, dims = [0] : (tensor<2xf32>, tensor<2xi64>) -> tensor<2x3xf32>
    return %a, %b, %c, %d, %e : tensor<2x3xf32>, tensor<2x3xi32>, tensor<2xf32>, tensor<13xf32>, tensor<2x3xf32>
  }
}

// CHECK:      %a = f32[2,3]{1,0} reshape(%x)
// CHECK-NEXT: %b = s32[2,3]{1,0} iota(), iota_dimension=1
// CHECK-NEXT: %c = f32[2]{0} slice(%x), slice={[1:5:2]}
// CHECK-NEXT: %d = f32[13]{0} pad(%x, %zero), padding=1_1_1
// CHECK-NEXT: %e = f32[2,3]{1,0} broadcast(%c), dimensions={0}
