// RUN: xneuron-opt %s -p call-inliner --remarks --split-input-file 2>&1 | filecheck %s
// RUN: xneuron-opt %s -p 'call-inliner{single_call_site=true}' --split-input-file | filecheck %s --check-prefix=SINGLE
// RUN: xneuron-opt %s -p 'call-inliner{composites_to_preserve="my.op","other.op"}' --split-input-file | filecheck %s --check-prefix=COMPOSITE

// CHECK: remark[missed/call-kept]: call-inliner: a: the call has a backend_config
// CHECK: remark[missed/call-kept]: call-inliner: b: the call says inlineable="false"
// CHECK: remark[missed/call-kept]: call-inliner: c: the call says inlineable="xla_late"
// CHECK: remark[missed/call-kept]: call-inliner: e: the call is the inside of an async pair
// CHECK: remark[missed/call-kept]: call-inliner: d: the function has no body of one block
// CHECK: remark[missed/call-kept]: call-inliner: g: the function returns a parameter, which cannot carry the call's control dependencies on
// CHECK: remark[missed/call-kept]: call-inliner: {{.*}}: the function calls itself

!f = tensor<f32>

// Callees before callers, in loops too; functions that nothing calls any more go; names and metadata stay, with the
// call's op_name in front.

// CHECK-LABEL: func.func @main
// CHECK-NEXT:  %n = hlo.negate(%x) {metadata = {op_name = "outer/inner/neg", source_line = 3 : i64}}
// CHECK-NEXT:  %s = hlo.add(%n, %x) {metadata = {op_name = "outer/plus"}}
// CHECK-NEXT:  %w = hlo.while(%s)
// CHECK:       hlo.abs(
// CHECK-NOT:   func.func
// SINGLE-LABEL: func.func @main
// SINGLE:      %s = hlo.add
// SINGLE:      func.call @many
// SINGLE:      hlo.cosine
// SINGLE:      func.func private @many
func.func @main(%x: !f) -> !f {
  %r = func.call @twice(%x) {metadata = {op_name = "outer"}} : (!f) -> !f
  %w = hlo.while(%r) cond {
  ^bb0(%p: !f):
    %c = hlo.compare(%p, %p) {direction = "LT"} : (!f, !f) -> tensor<i1>
    hlo.return(%c) : (tensor<i1>) -> ()
  } body {
  ^bb0(%p: !f):
    %q = func.call @many(%p) : (!f) -> !f
    hlo.return(%q) : (!f) -> ()
  } : (!f) -> !f
  %m = func.call @many(%w) : (!f) -> !f
  %k = func.call @kept(%m) {frontend_attributes = {inlineable = "true"}} : (!f) -> !f
  %l = func.call @kept(%k) {frontend_attributes = {inlineable = "xla_early"}} : (!f) -> !f
  func.return %l : !f
}
func.func private @twice(%x: !f) -> !f {
  %n = func.call @inner(%x) {metadata = {op_name = "inner"}} : (!f) -> !f
  %s = hlo.add(%n, %x) {metadata = {op_name = "plus"}} : (!f, !f) -> !f
  func.return %s : !f
}
func.func private @inner(%y: !f) -> !f {
  %n = hlo.negate(%y) {metadata = {op_name = "neg", source_line = 3 : i64}} : (!f) -> !f
  func.return %n : !f
}
func.func private @many(%y: !f) -> !f {
  %n = hlo.abs(%y) : (!f) -> !f
  func.return %n : !f
}
func.func private @kept(%y: !f) -> !f {
  %n = hlo.cosine(%y) : (!f) -> !f
  func.return %n : !f
}

// -----

// What is not inlined.

// CHECK-LABEL: func.func @refused
// CHECK: %a = func.call
// CHECK: %b = func.call
// CHECK: %c = func.call
// CHECK: %d = func.call
// CHECK: %e = func.call
// CHECK: %g = func.call @same
// CHECK: hlo.control_dependency(%x, %g)
func.func @refused(%x: tensor<f32>) -> tensor<f32> {
  %a = func.call @f(%x) {backend_config = "{}"} : (tensor<f32>) -> tensor<f32>
  %b = func.call @f(%a) {frontend_attributes = {inlineable = "false"}} : (tensor<f32>) -> tensor<f32>
  %c = func.call @f(%b) {frontend_attributes = {inlineable = "xla_late"}} : (tensor<f32>) -> tensor<f32>
  %d = func.call @outside(%c) : (tensor<f32>) -> tensor<f32>
  %s = hlo.async_start(%d) calls {
  ^bb0(%p: tensor<f32>):
    %e = func.call @f(%p) : (tensor<f32>) -> tensor<f32>
    hlo.return(%e) : (tensor<f32>) -> ()
  } : (tensor<f32>) -> tuple<tuple<tensor<f32>>, tensor<f32>>
  %done = hlo.async_done(%s) : (tuple<tuple<tensor<f32>>, tensor<f32>>) -> tensor<f32>
  %g = func.call @same(%done) : (tensor<f32>) -> tensor<f32>
  hlo.control_dependency(%x, %g) : (tensor<f32>, tensor<f32>) -> ()
  %h = func.call @ping(%g) : (tensor<f32>) -> tensor<f32>
  func.return %h : tensor<f32>
}
func.func private @f(%y: tensor<f32>) -> tensor<f32> {
  %n = hlo.negate(%y) : (tensor<f32>) -> tensor<f32>
  func.return %n : tensor<f32>
}
func.func private @outside(tensor<f32>) -> tensor<f32>
func.func private @ping(%y: tensor<f32>) -> tensor<f32> {
  %n = func.call @ping(%y) : (tensor<f32>) -> tensor<f32>
  func.return %n : tensor<f32>
}
func.func private @same(%y: tensor<f32>) -> tensor<f32> {
  func.return %y : tensor<f32>
}

// -----

// What the call waits for, every inlined instruction waits for; what waits for the call waits for the root. Orders inside
// of the function stay.

// CHECK-LABEL: func.func @ordered
// CHECK:      %before = hlo.abs(%x)
// CHECK-NEXT: %m = hlo.negate(%y)
// CHECK-NEXT: %n = hlo.sine(%y)
// CHECK-NEXT: hlo.control_dependency(%m, %n)
// CHECK-NEXT: %r = hlo.add(%m, %n)
// CHECK-NEXT: hlo.control_dependency(%before, %m)
// CHECK-NEXT: hlo.control_dependency(%before, %n)
// CHECK-NEXT: hlo.control_dependency(%before, %r)
// CHECK-NEXT: %after = hlo.cosine(%x)
// CHECK-NEXT: hlo.control_dependency(%r, %after)
func.func @ordered(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %before = hlo.abs(%x) : (tensor<f32>) -> tensor<f32>
  %call = func.call @f(%y) : (tensor<f32>) -> tensor<f32>
  hlo.control_dependency(%before, %call) : (tensor<f32>, tensor<f32>) -> ()
  %after = hlo.cosine(%x) : (tensor<f32>) -> tensor<f32>
  hlo.control_dependency(%call, %after) : (tensor<f32>, tensor<f32>) -> ()
  func.return %call : tensor<f32>
}
func.func private @f(%y: tensor<f32>) -> tensor<f32> {
  %m = hlo.negate(%y) : (tensor<f32>) -> tensor<f32>
  %n = hlo.sine(%y) : (tensor<f32>) -> tensor<f32>
  hlo.control_dependency(%m, %n) : (tensor<f32>, tensor<f32>) -> ()
  %r = hlo.add(%m, %n) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  func.return %r : tensor<f32>
}

// -----

// Composites stay when their name is asked for; a public function stays when its calls are gone.

// COMPOSITE-LABEL: func.func @composites
// COMPOSITE: %a = func.call @f
// COMPOSITE: %n = hlo.negate(%a)
// COMPOSITE: func.func private @f
func.func @composites(%x: tensor<f32>) -> tensor<f32> {
  %a = func.call @f(%x) {is_composite, frontend_attributes = {composite.name = "my.op"}} : (tensor<f32>) -> tensor<f32>
  %b = func.call @f(%a) {is_composite, frontend_attributes = {composite.name = "another.op"}} : (tensor<f32>) -> tensor<f32>
  %c = func.call @public(%b) : (tensor<f32>) -> tensor<f32>
  func.return %c : tensor<f32>
}
func.func private @f(%y: tensor<f32>) -> tensor<f32> {
  %n = hlo.negate(%y) : (tensor<f32>) -> tensor<f32>
  func.return %n : tensor<f32>
}
// CHECK: func.func @public
func.func @public(%y: tensor<f32>) -> tensor<f32> {
  %n = hlo.negate(%y) : (tensor<f32>) -> tensor<f32>
  func.return %n : tensor<f32>
}

// -----

// Stack frames, as rows (place, caller) of the module's table: what is called from frame 2 has it behind its own
// outermost frame, in loops too; not twice. One without a frame gets none. New frames are shared.

// CHECK: hlo.stack_frames = [array<i64: 1, 0>, array<i64: 2, 1>, array<i64: 3, 0>, array<i64: 4, 3>, array<i64: 5, 2>, array<i64: 3, 2>, array<i64: 4, 6>]
// CHECK-LABEL: func.func @frames
// CHECK-NEXT: hlo.negate({{.*}}stack_frame_id = 7 : i64
// CHECK-NEXT: hlo.abs({{.*}}op_name = "f/abs", stack_frame_id = 5 : i64
// CHECK-NEXT: hlo.sine(%1) : (
// CHECK-NEXT: hlo.while({{.*}}
// CHECK:        hlo.cosine({{.*}}op_name = "f/cos", stack_frame_id = 7 : i64
// CHECK:      hlo.negate({{.*}}stack_frame_id = 4 : i64
module attributes {hlo.stack_frames = [array<i64: 1, 0>, array<i64: 2, 1>, array<i64: 3, 0>, array<i64: 4, 3>, array<i64: 5, 2>]} {
  func.func @frames(%x: tensor<f32>) -> tensor<f32> {
    %r = func.call @f(%x) {metadata = {op_name = "f", stack_frame_id = 2 : i64}} : (tensor<f32>) -> tensor<f32>
    %s = func.call @g(%r) : (tensor<f32>) -> tensor<f32>
    func.return %s : tensor<f32>
  }
  func.func private @f(%x: tensor<f32>) -> tensor<f32> {
    %0 = hlo.negate(%x) {metadata = {stack_frame_id = 4 : i64}} : (tensor<f32>) -> tensor<f32>
    %1 = hlo.abs(%0) {metadata = {op_name = "abs", stack_frame_id = 5 : i64}} : (tensor<f32>) -> tensor<f32>
    %2 = hlo.sine(%1) : (tensor<f32>) -> tensor<f32>
    %3 = hlo.while(%2) cond {
    ^bb0(%p: tensor<f32>):
      %c = hlo.compare(%p, %p) {direction = "LT"} : (tensor<f32>, tensor<f32>) -> tensor<i1>
      hlo.return(%c) : (tensor<i1>) -> ()
    } body {
    ^bb0(%p: tensor<f32>):
      %q = hlo.cosine(%p) {metadata = {op_name = "cos", stack_frame_id = 4 : i64}} : (tensor<f32>) -> tensor<f32>
      hlo.return(%q) : (tensor<f32>) -> ()
    } : (tensor<f32>) -> tensor<f32>
    func.return %3 : tensor<f32>
  }
  func.func private @g(%x: tensor<f32>) -> tensor<f32> {
    %0 = hlo.negate(%x) {metadata = {stack_frame_id = 4 : i64}} : (tensor<f32>) -> tensor<f32>
    func.return %0 : tensor<f32>
  }
}
