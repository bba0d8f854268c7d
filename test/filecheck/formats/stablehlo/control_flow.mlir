// REQUIRES: jaxlib
// RUN: xneuron-opt %s | filecheck %s
// RUN: xneuron-opt %s -t hlo | filecheck %s --check-prefix TEXT
// RUN: xneuron-opt %s -p annotate-while-trip-count -t hlo | filecheck %s --check-prefix COUNTED

// Loops get one tuple; what a loop uses from around goes through it; constants are made again inside.

module @loops {
  func.func public @main(%x: tensor<4xf32>, %scale: tensor<4xf32>, %p: tensor<i1>) -> (tensor<4xf32>, tensor<4xf32>) {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %limit = stablehlo.constant dense<5> : tensor<i32>
    %loop:2 = stablehlo.while(%i = %zero, %acc = %x) : tensor<i32>, tensor<4xf32>
    cond {
      %more = stablehlo.compare LT, %i, %limit, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %next = stablehlo.add %i, %one : tensor<i32>
      %scaled = stablehlo.multiply %acc, %scale : tensor<4xf32>
      stablehlo.return %next, %scaled : tensor<i32>, tensor<4xf32>
    }
    %chosen = "stablehlo.if"(%p) ({
      stablehlo.return %loop#1 : tensor<4xf32>
    }, {
      %sum = stablehlo.add %x, %scale : tensor<4xf32>
      stablehlo.return %sum : tensor<4xf32>
    }) : (tensor<i1>) -> tensor<4xf32>
    %which = stablehlo.constant dense<1> : tensor<i32>
    %cases = "stablehlo.case"(%which) ({
      stablehlo.return %x : tensor<4xf32>
    }, {
      %many = stablehlo.constant dense<2.5> : tensor<4xf32>
      stablehlo.return %many : tensor<4xf32>
    }) : (tensor<i32>) -> tensor<4xf32>
    %two:2 = call @both(%chosen, %cases) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    %kept:2 = stablehlo.optimization_barrier %two#0, %two#1 : tensor<4xf32>, tensor<4xf32>
    return %kept#0, %kept#1 : tensor<4xf32>, tensor<4xf32>
  }
  func.func private @both(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    return %b, %a : tensor<4xf32>, tensor<4xf32>
  }
}

// CHECK-LABEL: builtin.module @loops {
// CHECK-NEXT:    func.func @main(%x: tensor<4xf32>, %scale: tensor<4xf32>, %p: tensor<i1>) -> tuple<tensor<4xf32>, tensor<4xf32>> {
// CHECK-NEXT:      %zero = hlo.constant() {value = #hlo.literal<"0" : tensor<i32>>}
// CHECK-NEXT:      %limit = hlo.constant() {value = #hlo.literal<"5" : tensor<i32>>}
// CHECK-NEXT:      %0 = hlo.tuple(%zero, %x, %scale) : (tensor<i32>, tensor<4xf32>, tensor<4xf32>) -> [[STATE:.+]]
// CHECK-NEXT:      %1 = hlo.while(%0) {computations = [#hlo.computation<"condition", {}>, #hlo.computation<"body", {}>]} cond {
// CHECK-NEXT:      ^bb0(%state: [[STATE]]):
// CHECK-NEXT:        %i = hlo.get_tuple_element(%state) {index = 0 : i64}
// CHECK-NEXT:        %acc = hlo.get_tuple_element(%state) {index = 1 : i64}
// CHECK-NEXT:        %2 = hlo.get_tuple_element(%state) {index = 2 : i64}
// CHECK-NEXT:        %limit_1 = hlo.constant() {value = #hlo.literal<"5" : tensor<i32>>}
// CHECK-NEXT:        %more = hlo.compare(%i, %limit_1) {direction = "LT"}
// CHECK-NEXT:        hlo.return(%more)
// CHECK-NEXT:      } body {
// CHECK:             %scaled = hlo.multiply(%acc_1, %3)
// CHECK-NEXT:        %4 = hlo.tuple(%next, %scaled, %3)
// CHECK-NEXT:        hlo.return(%4)
// CHECK-NEXT:      } : ([[STATE]]) -> [[STATE]]
// CHECK:           %chosen = hlo.conditional(%p, {{%.+}}, {{%.+}}) {computations = [#hlo.computation<"on_true", {}>, #hlo.computation<"on_false", {}>]} branches {
// CHECK-NEXT:      ^bb0({{%.+}}: tensor<4xf32>):
// CHECK-NEXT:        hlo.return({{%.+}})
// CHECK-NEXT:      }, {
// CHECK-NEXT:      ^bb0({{%.+}}: tuple<tensor<4xf32>, tensor<4xf32>>):
// CHECK:           %cases = hlo.conditional(%which, %x, {{%.+}}) {computations = [#hlo.computation<"branch_0", {}>, #hlo.computation<"branch_1", {}>]}
// CHECK:           [[CALL:%.+]] = func.call @both(%chosen, %cases) : (tensor<4xf32>, tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>>
// CHECK:           hlo.opt_barrier({{%.+}}) : (tuple<tensor<4xf32>, tensor<4xf32>>) -> tuple<tensor<4xf32>, tensor<4xf32>>
// CHECK:         func.func private @both(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>> {
// CHECK-NEXT:      [[BOTH:%.+]] = hlo.tuple(%b, %a)
// CHECK-NEXT:      func.return [[BOTH]]

// TEXT-LABEL: ENTRY %main
// TEXT:         %while = (s32[], f32[4]{0}, f32[4]{0}) while(%tuple{{.*}}), condition=%condition, body=%body
// TEXT:         %chosen = f32[4]{0} conditional(%p, {{.*}}), true_computation=%on_true, false_computation=%on_false
// TEXT:         %which = s32[] constant(1)
// TEXT:         %cases = f32[4]{0} conditional(%which, %x, %tuple{{.*}}), branch_computations={%branch_0, %branch_1}

// COUNTED: while({{.*}}"known_trip_count":{"n":"5"}
