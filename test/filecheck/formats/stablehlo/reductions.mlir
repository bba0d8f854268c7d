// REQUIRES: jaxlib
// RUN: xneuron-opt %s -t hlo | filecheck %s

// The generic form. Scalar computations become regions; several results become a tuple that is taken apart.

"builtin.module"() <{sym_name = "reductions"}> ({
  "func.func"() <{function_type = (tensor<8x8xf32>, tensor<8x8xi32>, tensor<3x1xi32>, tensor<3x8xf32>, tensor<4x4xf32>) -> tensor<8xf32>, sym_name = "main"}> ({
  ^bb0(%x: tensor<8x8xf32>, %n: tensor<8x8xi32>, %rows: tensor<3x1xi32>, %updates: tensor<3x8xf32>, %source: tensor<4x4xf32>):
    %low = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %zero = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %best, %at = "stablehlo.reduce"(%x, %n, %low, %zero) <{dimensions = array<i64: 1>}> ({
    ^bb0(%a: tensor<f32>, %i: tensor<i32>, %b: tensor<f32>, %j: tensor<i32>):
      %more = "stablehlo.compare"(%a, %b) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %v = "stablehlo.select"(%more, %a, %b) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
      %k = "stablehlo.select"(%more, %i, %j) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%v, %k) : (tensor<f32>, tensor<i32>) -> ()
    }) : (tensor<8x8xf32>, tensor<8x8xi32>, tensor<f32>, tensor<i32>) -> (tensor<8xf32>, tensor<8xi32>)
    %pooled = "stablehlo.reduce_window"(%x, %low) <{window_dimensions = array<i64: 2, 3>, window_strides = array<i64: 2, 1>, base_dilations = array<i64: 1, 2>, window_dilations = array<i64: 2, 1>, padding = dense<[[1, 0], [0, 1]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %m = "stablehlo.maximum"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%m) : (tensor<f32>) -> ()
    }) : (tensor<8x8xf32>, tensor<f32>) -> tensor<4x14xf32>
    %sorted:2 = "stablehlo.sort"(%x, %n) <{dimension = -1 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
      %less = "stablehlo.compare"(%a, %b) <{compare_type = #stablehlo<comparison_type TOTALORDER>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      "stablehlo.return"(%less) : (tensor<i1>) -> ()
    }) : (tensor<8x8xf32>, tensor<8x8xi32>) -> (tensor<8x8xf32>, tensor<8x8xi32>)
    %scattered = "stablehlo.scatter"(%x, %rows, %updates) <{indices_are_sorted = false, unique_indices = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      "stablehlo.return"(%b) : (tensor<f32>) -> ()
    }) : (tensor<8x8xf32>, tensor<3x1xi32>, tensor<3x8xf32>) -> tensor<8x8xf32>
    %spread = "stablehlo.select_and_scatter"(%x, %source, %low) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %ge = "stablehlo.compare"(%a, %b) <{comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      "stablehlo.return"(%ge) : (tensor<i1>) -> ()
    }, {
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%s) : (tensor<f32>) -> ()
    }) : (tensor<8x8xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<8x8xf32>
    %mapped = "stablehlo.map"(%x) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%a: tensor<f32>):
      %l = "stablehlo.multiply"(%a, %low) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%l) : (tensor<f32>) -> ()
    }) : (tensor<8x8xf32>) -> tensor<8x8xf32>
    "func.return"(%best) : (tensor<8xf32>) -> ()
  }) : () -> ()
}) : () -> ()

// CHECK-LABEL: %reduce_computation
// CHECK:         ROOT %tuple = (f32[], s32[]) tuple(%v, %k)
// CHECK-LABEL: %reduce-window_computation
// CHECK:         ROOT %m = f32[] maximum(%{{.*}}, %{{.*}})
// CHECK-LABEL: %sort_computation
// CHECK:         direction=LT, type=TOTALORDER
// CHECK-LABEL: %map_computation
// CHECK:         %low = f32[] constant(-inf)
// CHECK-LABEL: ENTRY %main
// CHECK:         %reduce = (f32[8]{0}, s32[8]{0}) reduce(%x, %n, %low{{.*}}, %zero), dimensions={1}, to_apply=%reduce_computation
// CHECK-NEXT:    %best = f32[8]{0} get-tuple-element(%reduce), index=0
// CHECK-NEXT:    %at = s32[8]{0} get-tuple-element(%reduce), index=1
// CHECK-NEXT:    %pooled = f32[4,14]{1,0} reduce-window(%x, %low{{.*}}), window={size=2x3 stride=2x1 pad=1_0x0_1 lhs_dilate=1x2 rhs_dilate=2x1}, to_apply=%reduce-window_computation
// CHECK-NEXT:    %sort = (f32[8,8]{1,0}, s32[8,8]{1,0}) sort(%x, %n), dimensions={1}, is_stable=true, to_apply=%sort_computation
// CHECK:         %scattered = f32[8,8]{1,0} scatter(%x, %rows, %updates), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, unique_indices=true, to_apply=%scatter_computation
// CHECK-NEXT:    %spread = f32[8,8]{1,0} select-and-scatter(%x, %source, %low{{.*}}), window={size=2x2 stride=2x2}, select=%select-and-scatter_computation, scatter=%select-and-scatter_computation{{.*}}
// CHECK-NEXT:    %mapped = f32[8,8]{1,0} map(%x), dimensions={0,1}, to_apply=%map_computation
