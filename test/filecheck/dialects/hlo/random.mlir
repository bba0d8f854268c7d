// RUN: XNEURON_ROUNDTRIP

// Random numbers.

builtin.module {
  func.func private @random(%f: tensor<f32>, %ull2: tensor<2xui64>) {
    // CHECK: %rng = hlo.rng(%f, %f) {distribution = "rng_uniform"} : (tensor<f32>, tensor<f32>) -> tensor<2x3xf32>
    %rng = hlo.rng(%f, %f) {distribution = "rng_uniform"} : (tensor<f32>, tensor<f32>) -> tensor<2x3xf32>

    // CHECK: %rng_bit_generator = hlo.rng_bit_generator(%ull2) {algorithm = "rng_philox"} : (tensor<2xui64>) -> tuple<tensor<2xui64>, tensor<4xui32>>
    %rng_bit_generator = hlo.rng_bit_generator(%ull2) {algorithm = "rng_philox"} : (tensor<2xui64>) -> tuple<tensor<2xui64>, tensor<4xui32>>

    // CHECK: %rng_get_and_update_state = hlo.rng_get_and_update_state() {delta = 1 : i64} : () -> tensor<2xui64>
    %rng_get_and_update_state = hlo.rng_get_and_update_state() {delta = 1 : i64} : () -> tensor<2xui64>
    func.return
  }
}
