// RUN: xdsl-opt %s -p cse,dce | filecheck %s

// xDSL's own clean-up neither merges, drops nor doubles what has effects, and drops what has none.

builtin.module {
  // CHECK-LABEL: @pure
  func.func @pure(%a: tensor<4xf32>, %c: tensor<f32>, %i: tensor<i32>) -> tensor<4xf32> {
    // CHECK-NEXT: %x = hlo.add(%a, %a)
    // CHECK-NEXT: %y = hlo.multiply(%x, %x)
    // CHECK-NEXT: func.return %y
    %x = hlo.add(%a, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %same = hlo.add(%a, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %unused = hlo.dot(%a, %a) {lhs_contracting_dims = array<i64: 0>, rhs_contracting_dims = array<i64: 0>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
    %unused_1 = hlo.reduce(%a, %c) {dimensions = array<i64: 0>} to_apply {
    ^bb0(%b: tensor<f32>, %d: tensor<f32>):
      %e = hlo.add(%b, %d) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      hlo.return(%e) : (tensor<f32>) -> ()
    } : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    %unused_2 = hlo.custom_call(%a) {custom_call_target = "pure"} : (tensor<4xf32>) -> tensor<4xf32>
    %unused_3 = hlo.fusion(%a) {kind = "kLoop"} calls {
    ^bb0(%f: tensor<4xf32>):
      %g = hlo.negate(%f) : (tensor<4xf32>) -> tensor<4xf32>
      hlo.return(%g) : (tensor<4xf32>) -> ()
    } : (tensor<4xf32>) -> tensor<4xf32>
    %y = hlo.multiply(%x, %same) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    func.return %y : tensor<4xf32>
  }

  // CHECK-LABEL: @effects
  func.func @effects(%a: tensor<4xf32>, %s: tensor<i32>, %t: !hlo.token, %r: tensor<f32>) -> tensor<i32> {
    // CHECK-COUNT-2: hlo.all_gather(%a)
    %g = hlo.all_gather(%a) {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<8xf32>
    %g_1 = hlo.all_gather(%a) {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<8xf32>
    // CHECK-COUNT-2: hlo.send(%a, %t)
    %send = hlo.send(%a, %t) {channel_id = 1 : i64} : (tensor<4xf32>, !hlo.token) -> tuple<tensor<4xf32>, tensor<ui32>, !hlo.token>
    %send_1 = hlo.send(%a, %t) {channel_id = 1 : i64} : (tensor<4xf32>, !hlo.token) -> tuple<tensor<4xf32>, tensor<ui32>, !hlo.token>
    // CHECK-COUNT-2: hlo.rng(%r, %r)
    %rng = hlo.rng(%r, %r) {distribution = "rng_uniform"} : (tensor<f32>, tensor<f32>) -> tensor<4xf32>
    %rng_1 = hlo.rng(%r, %r) {distribution = "rng_uniform"} : (tensor<f32>, tensor<f32>) -> tensor<4xf32>
    // CHECK-COUNT-2: hlo.custom_call(%a)
    %call = hlo.custom_call(%a) {custom_call_target = "print", custom_call_has_side_effect} : (tensor<4xf32>) -> tensor<4xf32>
    %call_1 = hlo.custom_call(%a) {custom_call_target = "print", custom_call_has_side_effect} : (tensor<4xf32>) -> tensor<4xf32>
    // CHECK-COUNT-2: hlo.opaque(%a)
    %opaque = hlo.opaque(%a) {opcode_name = "new"} : (tensor<4xf32>) -> tensor<4xf32>
    %opaque_1 = hlo.opaque(%a) {opcode_name = "new"} : (tensor<4xf32>) -> tensor<4xf32>
    // A loop may not end, even if nothing uses its result.
    // CHECK: hlo.while(%s)
    %loop = hlo.while(%s) cond {
    ^bb0(%i: tensor<i32>):
      %p = hlo.compare(%i, %i) {direction = "EQ"} : (tensor<i32>, tensor<i32>) -> tensor<i1>
      hlo.return(%p) : (tensor<i1>) -> ()
    } body {
    ^bb0(%j: tensor<i32>):
      hlo.return(%j) : (tensor<i32>) -> ()
    } : (tensor<i32>) -> tensor<i32>
    // An op that owns a computation has its effects, however deep.
    // CHECK: hlo.fusion(%a)
    // CHECK: hlo.conditional(%h, %f)
    // CHECK: hlo.all_reduce(%k)
    %fused = hlo.fusion(%a) {kind = "kCustom"} calls {
    ^bb0(%b: tensor<4xf32>):
      %q = hlo.constant() {value = #hlo.literal<"0" : tensor<i32>>} : () -> tensor<i32>
      %inner = hlo.fusion(%q, %b) {kind = "kLoop"} calls {
      ^bb1(%h: tensor<i32>, %f: tensor<4xf32>):
        %c = hlo.conditional(%h, %f) branches {
        ^bb2(%k: tensor<4xf32>):
          %ar = hlo.all_reduce(%k) to_apply {
          ^bb3(%l: tensor<f32>, %m: tensor<f32>):
            %n = hlo.add(%l, %m) : (tensor<f32>, tensor<f32>) -> tensor<f32>
            hlo.return(%n) : (tensor<f32>) -> ()
          } : (tensor<4xf32>) -> tensor<4xf32>
          hlo.return(%ar) : (tensor<4xf32>) -> ()
        } : (tensor<i32>, tensor<4xf32>) -> tensor<4xf32>
        hlo.return(%c) : (tensor<4xf32>) -> ()
      } : (tensor<i32>, tensor<4xf32>) -> tensor<4xf32>
      hlo.return(%inner) : (tensor<4xf32>) -> ()
    } : (tensor<4xf32>) -> tensor<4xf32>
    func.return %s : tensor<i32>
  }

  // Computations that differ only in an inner type stay apart: xDSL's comparison of regions does not see types.
  // CHECK-LABEL: @inner_types
  func.func @inner_types(%a: tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>> {
    // CHECK: tensor<bf16>
    // CHECK: tensor<f16>
    %x = hlo.map(%a) to_apply {
    ^bb0(%b: tensor<f32>):
      %n = hlo.convert(%b) : (tensor<f32>) -> tensor<bf16>
      %w = hlo.convert(%n) : (tensor<bf16>) -> tensor<f32>
      hlo.return(%w) : (tensor<f32>) -> ()
    } : (tensor<4xf32>) -> tensor<4xf32>
    %y = hlo.map(%a) to_apply {
    ^bb0(%b_1: tensor<f32>):
      %n_1 = hlo.convert(%b_1) : (tensor<f32>) -> tensor<f16>
      %w_1 = hlo.convert(%n_1) : (tensor<f16>) -> tensor<f32>
      hlo.return(%w_1) : (tensor<f32>) -> ()
    } : (tensor<4xf32>) -> tensor<4xf32>
    // CHECK: hlo.tuple(%x, %y)
    %t = hlo.tuple(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>>
    func.return %t : tuple<tensor<4xf32>, tensor<4xf32>>
  }

  // What waits is not merged into what does not: here the one waited for needs the other.
  // CHECK-LABEL: @waiting
  func.func @waiting(%a: tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>> {
    // CHECK-NEXT: %x = hlo.negate(%a)
    // CHECK-NEXT: %y = hlo.abs(%x)
    // CHECK-NEXT: %z = hlo.negate(%a)
    // CHECK-NEXT: hlo.control_dependency(%y, %z)
    // CHECK-NEXT: hlo.tuple(%z, %x)
    %x = hlo.negate(%a) : (tensor<4xf32>) -> tensor<4xf32>
    %y = hlo.abs(%x) : (tensor<4xf32>) -> tensor<4xf32>
    %z = hlo.negate(%a) : (tensor<4xf32>) -> tensor<4xf32>
    %w = hlo.negate(%a) : (tensor<4xf32>) -> tensor<4xf32>
    hlo.control_dependency(%y, %z) : (tensor<4xf32>, tensor<4xf32>) -> ()
    %t = hlo.tuple(%z, %w) : (tensor<4xf32>, tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>>
    func.return %t : tuple<tensor<4xf32>, tensor<4xf32>>
  }

  // What is ordered stays, and stays ordered.
  // CHECK-LABEL: @ordered
  func.func @ordered(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
    // CHECK-NEXT: %x = hlo.negate(%a)
    // CHECK-NEXT: %y = hlo.negate(%b)
    // CHECK-NEXT: hlo.control_dependency(%x, %y)
    %x = hlo.negate(%a) : (tensor<4xf32>) -> tensor<4xf32>
    %y = hlo.negate(%b) : (tensor<4xf32>) -> tensor<4xf32>
    hlo.control_dependency(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> ()
    func.return %y : tensor<4xf32>
  }
}
