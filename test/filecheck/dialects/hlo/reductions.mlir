// RUN: XNEURON_ROUNDTRIP

// Reductions, windows, scans and orderings.

builtin.module {
  func.func private @reductions(%f23: tensor<2x3xf32>, %f: tensor<f32>, %s23: tensor<2x3xi32>, %s: tensor<i32>, %f44: tensor<4x4xf32>, %f22: tensor<2x2xf32>, %f3: tensor<3xf32>, %f4: tensor<4xf32>, %s4: tensor<4xi32>, %f24: tensor<2x4xf32>) {
    // CHECK: %reduce = hlo.reduce(%f23, %f) {dimensions = array<i64: 1>} to_apply {
    // CHECK-NEXT: ^bb0(%a3: tensor<f32>, %b3: tensor<f32>):
    // CHECK-NEXT: %r3 = hlo.add(%a3, %b3) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    // CHECK-NEXT: hlo.return(%r3) : (tensor<f32>) -> ()
    // CHECK-NEXT: } : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
    %reduce = hlo.reduce(%f23, %f) {dimensions = array<i64: 1>} to_apply {
    ^bb0(%a3: tensor<f32>, %b3: tensor<f32>):
      %r3 = hlo.add(%a3, %b3) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      hlo.return(%r3) : (tensor<f32>) -> ()
    } : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>

    // CHECK: %several = hlo.reduce(%f23, %s23, %f, %s) {dimensions = array<i64: 1>} to_apply {
    // CHECK-NEXT: ^bb0(%a4: tensor<f32>, %b4: tensor<i32>, %c4: tensor<f32>, %d4: tensor<i32>):
    // CHECK-NEXT: %r4 = hlo.tuple(%c4, %d4) : (tensor<f32>, tensor<i32>) -> tuple<tensor<f32>, tensor<i32>>
    // CHECK-NEXT: hlo.return(%r4) : (tuple<tensor<f32>, tensor<i32>>) -> ()
    // CHECK-NEXT: } : (tensor<2x3xf32>, tensor<2x3xi32>, tensor<f32>, tensor<i32>) -> tuple<tensor<2xf32>, tensor<2xi32>>
    %several = hlo.reduce(%f23, %s23, %f, %s) {dimensions = array<i64: 1>} to_apply {
    ^bb0(%a4: tensor<f32>, %b4: tensor<i32>, %c4: tensor<f32>, %d4: tensor<i32>):
      %r4 = hlo.tuple(%c4, %d4) : (tensor<f32>, tensor<i32>) -> tuple<tensor<f32>, tensor<i32>>
      hlo.return(%r4) : (tuple<tensor<f32>, tensor<i32>>) -> ()
    } : (tensor<2x3xf32>, tensor<2x3xi32>, tensor<f32>, tensor<i32>) -> tuple<tensor<2xf32>, tensor<2xi32>>

    // CHECK: %reduce_window = hlo.reduce_window(%f44, %f) {window = #hlo.window<"size=2x3 stride=2x1 pad=0_0x1_1">} to_apply {
    // CHECK-NEXT: ^bb0(%a5: tensor<f32>, %b5: tensor<f32>):
    // CHECK-NEXT: %r5 = hlo.maximum(%a5, %b5) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    // CHECK-NEXT: hlo.return(%r5) : (tensor<f32>) -> ()
    // CHECK-NEXT: } : (tensor<4x4xf32>, tensor<f32>) -> tensor<2x4xf32>
    %reduce_window = hlo.reduce_window(%f44, %f) {window = #hlo.window<"size=2x3 stride=2x1 pad=0_0x1_1">} to_apply {
    ^bb0(%a5: tensor<f32>, %b5: tensor<f32>):
      %r5 = hlo.maximum(%a5, %b5) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      hlo.return(%r5) : (tensor<f32>) -> ()
    } : (tensor<4x4xf32>, tensor<f32>) -> tensor<2x4xf32>

    // CHECK: %select_and_scatter = hlo.select_and_scatter(%f44, %f22, %f) {window = #hlo.window<"size=2x2 stride=2x2">} select {
    // CHECK-NEXT: ^bb0(%a6: tensor<f32>, %b6: tensor<f32>):
    // CHECK-NEXT: %r6 = hlo.compare(%a6, %b6) {direction = "GE"} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    // CHECK-NEXT: hlo.return(%r6) : (tensor<i1>) -> ()
    // CHECK-NEXT: } scatter {
    // CHECK-NEXT: ^bb0(%a7: tensor<f32>, %b7: tensor<f32>):
    // CHECK-NEXT: %r7 = hlo.add(%a7, %b7) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    // CHECK-NEXT: hlo.return(%r7) : (tensor<f32>) -> ()
    // CHECK-NEXT: } : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x4xf32>
    %select_and_scatter = hlo.select_and_scatter(%f44, %f22, %f) {window = #hlo.window<"size=2x2 stride=2x2">} select {
    ^bb0(%a6: tensor<f32>, %b6: tensor<f32>):
      %r6 = hlo.compare(%a6, %b6) {direction = "GE"} : (tensor<f32>, tensor<f32>) -> tensor<i1>
      hlo.return(%r6) : (tensor<i1>) -> ()
    } scatter {
    ^bb0(%a7: tensor<f32>, %b7: tensor<f32>):
      %r7 = hlo.add(%a7, %b7) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      hlo.return(%r7) : (tensor<f32>) -> ()
    } : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x4xf32>

    // CHECK: %scan = hlo.scan(%f23, %f3) {dimensions = array<i64: 0>, num_carries = 1 : i64, is_reverse} to_apply {
    // CHECK-NEXT: ^bb0(%a8: tensor<3xf32>, %b8: tensor<3xf32>):
    // CHECK-NEXT: %c8 = hlo.add(%a8, %b8) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    // CHECK-NEXT: %r8 = hlo.tuple(%c8, %c8) : (tensor<3xf32>, tensor<3xf32>) -> tuple<tensor<3xf32>, tensor<3xf32>>
    // CHECK-NEXT: hlo.return(%r8) : (tuple<tensor<3xf32>, tensor<3xf32>>) -> ()
    // CHECK-NEXT: } : (tensor<2x3xf32>, tensor<3xf32>) -> tuple<tensor<2x3xf32>, tensor<3xf32>>
    %scan = hlo.scan(%f23, %f3) {dimensions = array<i64: 0>, num_carries = 1 : i64, is_reverse} to_apply {
    ^bb0(%a8: tensor<3xf32>, %b8: tensor<3xf32>):
      %c8 = hlo.add(%a8, %b8) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %r8 = hlo.tuple(%c8, %c8) : (tensor<3xf32>, tensor<3xf32>) -> tuple<tensor<3xf32>, tensor<3xf32>>
      hlo.return(%r8) : (tuple<tensor<3xf32>, tensor<3xf32>>) -> ()
    } : (tensor<2x3xf32>, tensor<3xf32>) -> tuple<tensor<2x3xf32>, tensor<3xf32>>

    // CHECK: %sort = hlo.sort(%f4) {dimensions = array<i64: 0>, is_stable} to_apply {
    // CHECK-NEXT: ^bb0(%a9: tensor<f32>, %b9: tensor<f32>):
    // CHECK-NEXT: %r9 = hlo.compare(%a9, %b9) {direction = "LT"} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    // CHECK-NEXT: hlo.return(%r9) : (tensor<i1>) -> ()
    // CHECK-NEXT: } : (tensor<4xf32>) -> tensor<4xf32>
    %sort = hlo.sort(%f4) {dimensions = array<i64: 0>, is_stable} to_apply {
    ^bb0(%a9: tensor<f32>, %b9: tensor<f32>):
      %r9 = hlo.compare(%a9, %b9) {direction = "LT"} : (tensor<f32>, tensor<f32>) -> tensor<i1>
      hlo.return(%r9) : (tensor<i1>) -> ()
    } : (tensor<4xf32>) -> tensor<4xf32>

    // CHECK: %with_values = hlo.sort(%f4, %s4) {dimensions = array<i64: 0>} to_apply {
    // CHECK-NEXT: ^bb0(%a10: tensor<f32>, %b10: tensor<f32>, %c10: tensor<i32>, %d10: tensor<i32>):
    // CHECK-NEXT: %r10 = hlo.compare(%a10, %b10) {direction = "LT"} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    // CHECK-NEXT: hlo.return(%r10) : (tensor<i1>) -> ()
    // CHECK-NEXT: } : (tensor<4xf32>, tensor<4xi32>) -> tuple<tensor<4xf32>, tensor<4xi32>>
    %with_values = hlo.sort(%f4, %s4) {dimensions = array<i64: 0>} to_apply {
    ^bb0(%a10: tensor<f32>, %b10: tensor<f32>, %c10: tensor<i32>, %d10: tensor<i32>):
      %r10 = hlo.compare(%a10, %b10) {direction = "LT"} : (tensor<f32>, tensor<f32>) -> tensor<i1>
      hlo.return(%r10) : (tensor<i1>) -> ()
    } : (tensor<4xf32>, tensor<4xi32>) -> tuple<tensor<4xf32>, tensor<4xi32>>

    // CHECK: %topk = hlo.topk(%f24) {k = 3 : i64, largest} : (tensor<2x4xf32>) -> tuple<tensor<2x3xf32>, tensor<2x3xi32>>
    %topk = hlo.topk(%f24) {k = 3 : i64, largest} : (tensor<2x4xf32>) -> tuple<tensor<2x3xf32>, tensor<2x3xi32>>
    func.return
  }
}
