// REQUIRES: jaxlib
// RUN: xneuron-opt %s | filecheck %s

// To the bit, in every element type.

module {
  func.func @main() -> tensor<4xi4> {
    %a = stablehlo.constant dense<[1, 2, 7, -8]> : tensor<4xi4>
    // CHECK: %a = hlo.constant() {value = #hlo.literal<["1", "2", "7", "-8"] : tensor<4xi4>>}
    %b = stablehlo.constant dense<[1.0, -0.0, 0x7F80, 0xFF80, 0x7FC1]> : tensor<5xbf16>
    // CHECK: %b = hlo.constant() {value = #hlo.literal<["1", "-0", "inf", "-inf", "nan(0x41)"] : tensor<5xbf16>>}
    %c = stablehlo.constant dense<[1.5, 0x7F, -448.0]> : tensor<3xf8E4M3FN>
    // CHECK: %c = hlo.constant() {value = #hlo.literal<["1.5", "nan", "-448"] : tensor<3xf8E4M3FN>>}
    %d = stablehlo.constant dense<[1.5, 6.0, -0.5]> : tensor<3xf4E2M1FN>
    // CHECK: %d = hlo.constant() {value = #hlo.literal<["1.5", "6", "-0.5"] : tensor<3xf4E2M1FN>>}
    %e = stablehlo.constant dense<[(1.0, -0.0), (0x7F800000, 2.5)]> : tensor<2xcomplex<f32>>
    // CHECK: %e = hlo.constant() {value = #hlo.literal<["(1, -0)", "(inf, 2.5)"] : tensor<2xcomplex<f32>>>}
    %f = stablehlo.constant dense<(3.0, 0x7FF8000000000000)> : tensor<complex<f64>>
    // CHECK: %f = hlo.constant() {value = #hlo.literal<"(3, nan)" : tensor<complex<f64>>>}
    %g = stablehlo.constant dense<[true, false]> : tensor<2xi1>
    // CHECK: %g = hlo.constant() {value = #hlo.literal<["true", "false"] : tensor<2xi1>>}
    %h = stablehlo.constant dense<[18446744073709551615, 0]> : tensor<2xui64>
    // CHECK: %h = hlo.constant() {value = #hlo.literal<["18446744073709551615", "0"] : tensor<2xui64>>}
    %i = stablehlo.constant dense<> : tensor<0x3xcomplex<f32>>
    // CHECK: %i = hlo.constant() {value = #hlo.literal<[] : tensor<0x3xcomplex<f32>>>}
    %j = stablehlo.constant dense_resource<blob> : tensor<3xf32>
    // CHECK: %j = hlo.constant() {value = #hlo.literal<["1", "2", "3"] : tensor<3xf32>>}
    %k = stablehlo.constant dense<[0x7C01, 0x8001]> : tensor<2xf16>
    // CHECK: %k = hlo.constant() {value = #hlo.literal<["nan(0x1)", "-6e-08"] : tensor<2xf16>>}
    %l = stablehlo.constant dense<3> : tensor<2x2xui2>
    // CHECK: [[L:%.+]] = hlo.constant() {value = #hlo.literal<"3" : tensor<ui2>>}
    // CHECK-NEXT: %l = hlo.broadcast([[L]]) {dimensions = array<i64>} : (tensor<ui2>) -> tensor<2x2xui2>
    return %a : tensor<4xi4>
  }
}

{-#
  dialect_resources: {
    builtin: {
      blob: "0x040000000000803F0000004000004040"
    }
  }
#-}
