// RUN: xdsl-opt %s --split-input-file --verify-diagnostics | filecheck %s

%f = "test.op"() : () -> tensor<f32>
// CHECK: rng: expected distribution to be one of rng_uniform, rng_normal, found rng_cauchy
%r = hlo.rng(%f, %f) {distribution = "rng_cauchy"} : (tensor<f32>, tensor<f32>) -> tensor<4xf32>

// -----

%f = "test.op"() : () -> tensor<f32>
%s = "test.op"() : () -> tensor<i32>
// CHECK: rng: expected operand f32[], found s32[]
%r = hlo.rng(%f, %s) {distribution = "rng_uniform"} : (tensor<f32>, tensor<i32>) -> tensor<4xf32>

// -----

%f = "test.op"() : () -> tensor<f32>
// CHECK: rng: expected 2 operands, found 1
%r = hlo.rng(%f) {distribution = "rng_uniform"} : (tensor<f32>) -> tensor<4xf32>

// -----

%s = "test.op"() : () -> tensor<i32>
// CHECK: rng: expected element type of result to be floating, found s32[4]
%r = hlo.rng(%s, %s) {distribution = "rng_normal"} : (tensor<i32>, tensor<i32>) -> tensor<4xi32>

// -----

%ull2 = "test.op"() : () -> tensor<2xui64>
// CHECK: rng-bit-generator: expected algorithm to be one of rng_default, rng_three_fry, rng_philox, found rng_mt
%r = hlo.rng_bit_generator(%ull2) {algorithm = "rng_mt"} : (tensor<2xui64>) -> tensor<4xf32>

// -----

%ull2 = "test.op"() : () -> tensor<2xui64>
// CHECK: rng-bit-generator: expected new state u64[2], found f32[4]
%r = hlo.rng_bit_generator(%ull2) {algorithm = "rng_philox"} : (tensor<2xui64>) -> tuple<tensor<4xf32>, tensor<4xf32>>

// -----

%ull2 = "test.op"() : () -> tensor<2xui64>
// CHECK: rng-bit-generator: expected element type of random bits to be integral, found f32[4]
%r = hlo.rng_bit_generator(%ull2) {algorithm = "rng_philox"} : (tensor<2xui64>) -> tuple<tensor<2xui64>, tensor<4xf32>>

// -----

// CHECK: rng-get-and-update-state: expected result u64[2], found u32[]
%r = hlo.rng_get_and_update_state() {delta = 1 : i64} : () -> tensor<ui32>
