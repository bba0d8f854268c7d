// REQUIRES: jaxlib
// RUN: xneuron-opt %s -t hlo | filecheck %s

module @calls {
  // CHECK: HloModule calls, input_output_alias={ {0}: (0, {}, may-alias) }, buffer_donor={ (1, {}) }
  func.func public @main(%x: tensor<4x3xf32> {tf.aliasing_output = 0 : i32, mhlo.sharding = "{replicated}"}, %y: tensor<f32> {jax.buffer_donor = true, mhlo.frontend_attributes = {k = "v"}}) -> (tensor<4x3xf32> {mhlo.sharding = "{replicated}"}, tensor<f32>) {
    // CHECK: parameter(0), sharding={replicated}
    // CHECK: parameter(1), frontend_attributes={k="v"}
    %0 = stablehlo.custom_call @typed(%x) {api_version = 4 : i32, backend_config = {n = 4 : i64, s = "x"}, has_side_effect = true, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], result_layouts = [dense<[0, 1]> : tensor<2xindex>]} : (tensor<4x3xf32>) -> tensor<4x3xf32>
    // CHECK-NEXT: %custom-call = f32[4,3]{0,1} custom-call(%x{{.*}}), custom_call_target="typed", operand_layout_constraints={f32[4,3]{0,1}}, custom_call_has_side_effect=true, api_version=API_VERSION_TYPED_FFI, backend_config={n = 4 : i64, s = "x"}
    // CHECK-NEXT: %copy = f32[4,3]{1,0} copy(%custom-call)
    %1:2 = stablehlo.custom_call @two(%x, %y) {backend_config = "plain", output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], called_computations = [@impl]} : (tensor<4x3xf32>, tensor<f32>) -> (tensor<4x3xf32>, tensor<f32>)
    // CHECK-NEXT: custom-call(%x{{.*}}, %y), custom_call_target="two", output_to_operand_aliasing={{[{][{]}}0}: (0, {})}, called_computations={{.*}}, backend_config="plain"
    stablehlo.custom_call @nothing() : () -> ()
    // CHECK: () custom-call(), custom_call_target="nothing"
    // What the exports of JAX say of operations that StableHLO does not have.
    %2 = stablehlo.custom_call @mhlo.erf(%x) {mhlo.attributes = {}, mhlo.version = 1 : i64} : (tensor<4x3xf32>) -> tensor<4x3xf32>
    // CHECK: %erf = f32[4,3]{1,0} erf(%x{{.*}})
    %3:2 = stablehlo.custom_call @mhlo.topk(%2) {mhlo.attributes = {k = 2 : i64, largest = true}, mhlo.version = 1 : i64} : (tensor<4x3xf32>) -> (tensor<4x2xf32>, tensor<4x2xi32>)
    // CHECK-NEXT: topk(%erf), k=2, largest=true
    %topk:2 = stablehlo.custom_call @mhlo.topk(%2) {mhlo.attributes = {k = 1 : i64}, mhlo.version = 1 : i64} : (tensor<4x3xf32>) -> (tensor<4x1xf32>, tensor<4x1xi32>)
    // CHECK: topk(%erf), k=1, largest=true
    %4 = chlo.erf %2 : tensor<4x3xf32> -> tensor<4x3xf32>
    // CHECK: erf(%erf)
    %5 = chlo.is_inf %4 : tensor<4x3xf32> -> tensor<4x3xi1>
    // CHECK: abs(
    // CHECK: constant(inf)
    // CHECK: compare({{.*}}), direction=EQ
    %6 = stablehlo.composite "my.op" %x {composite_attributes = {n = 1 : i64, s = "q"}, decomposition = @impl, version = 2 : i32} : (tensor<4x3xf32>) -> tensor<4x3xf32>
    // CHECK: call(%x{{.*}}), to_apply=%impl{{.*}}, is_composite=true, frontend_attributes={composite.attributes={n = 1 : i64, s = "q"},composite.name="my.op",composite.version="2"}
    %7 = stablehlo.exponential %6 {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>, mhlo.sharding = "{devices=[2,1]<=[2]}"} : tensor<4x3xf32>
    // CHECK: exponential({{.*}}), sharding={devices=[2,1]<=[2]}, result_accuracy={mode=highest}
    // CHECK: ROOT {{.*}} tuple({{.*}}), sharding={{[{][{]}}replicated}, {replicated}}
    return %7, %y : tensor<4x3xf32>, tensor<f32>
  }
  func.func private @impl(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
    return %x : tensor<4x3xf32>
  }
}
