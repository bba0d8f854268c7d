// RUN: xneuron-opt %s -p hlo-cse --remarks 2>&1 | filecheck %s
// RUN: xneuron-opt %s -p 'hlo-cse{layout_sensitive=false}' | filecheck %s --check-prefix=LOOSE
// RUN: xneuron-opt %s -p 'hlo-cse{only_scalars=true}' | filecheck %s --check-prefix=SCALARS

!f = tensor<f32>
!v = tensor<4xf32>

// CHECK: remark[passed/loop-merged]: hlo-cse: second: merged with an equal loop

// Equal ops of equal operands merge, commutative ones in either order, chains in one run; metadata does not count.

// CHECK-LABEL: @arithmetic
// CHECK-NEXT: %a = hlo.add(%x, %y)
// CHECK-NEXT: %c = hlo.negate(%a)
// CHECK-NEXT: %e = hlo.subtract(%x, %y)
// CHECK-NEXT: %g = hlo.subtract(%y, %x)
// CHECK-NEXT: hlo.tuple(%c, %c, %e, %g)
func.func @arithmetic(%x: !f, %y: !f) -> tuple<tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>> {
  %a = hlo.add(%x, %y) {metadata = {op_name = "here"}} : (!f, !f) -> !f
  %b = hlo.add(%y, %x) {metadata = {op_name = "there"}} : (!f, !f) -> !f
  %c = hlo.negate(%a) : (!f) -> !f
  %d = hlo.negate(%b) : (!f) -> !f
  %e = hlo.subtract(%x, %y) : (!f, !f) -> !f
  %g = hlo.subtract(%y, %x) : (!f, !f) -> !f
  %t = hlo.tuple(%c, %d, %e, %g) : (!f, !f, !f, !f) -> tuple<tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>>
  func.return %t : tuple<tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>>
}

// Constants merge by bits (0 and -0 differ), never where the text left them out; a comparison's implied type is equal
// to the same type written out.

// CHECK-LABEL: @constants
// CHECK: hlo.tuple(%zero, %zero, %minus, %gone, %gone2)
// CHECK: %less = hlo.compare(%x, %zero)
// CHECK: %total = hlo.compare(%x, %zero)
// CHECK: hlo.and(%less, %less)
// CHECK: hlo.and(%less, %total)
// SCALARS-LABEL: @constants
// SCALARS: hlo.tuple(%zero, %zero, %minus, %gone, %gone2)
func.func @constants(%x: !f) -> tensor<i1> {
  %zero = hlo.constant() {value = #hlo.literal<"0" : tensor<f32>>} : () -> !f
  %zero2 = hlo.constant() {value = #hlo.literal<"0" : tensor<f32>>} : () -> !f
  %minus = hlo.constant() {value = #hlo.literal<"-0" : tensor<f32>>} : () -> !f
  %gone = hlo.constant() {value = #hlo.elided<tensor<4xf32>>} : () -> !v
  %gone2 = hlo.constant() {value = #hlo.elided<tensor<4xf32>>} : () -> !v
  %t = hlo.tuple(%zero, %zero2, %minus, %gone, %gone2) : (!f, !f, !f, !v, !v) -> tuple<tensor<f32>, tensor<f32>, tensor<f32>, tensor<4xf32>, tensor<4xf32>>
  %less = hlo.compare(%x, %zero) {direction = "LT"} : (!f, !f) -> tensor<i1>
  %less2 = hlo.compare(%x, %zero2) {direction = "LT", compare_type = "FLOAT"} : (!f, !f) -> tensor<i1>
  %total = hlo.compare(%x, %zero) {direction = "LT", compare_type = "TOTALORDER"} : (!f, !f) -> tensor<i1>
  %u = hlo.and(%less, %less2) : (tensor<i1>, tensor<i1>) -> tensor<i1>
  %w = hlo.and(%less, %total) : (tensor<i1>, tensor<i1>) -> tensor<i1>
  %z = hlo.and(%u, %w) : (tensor<i1>, tensor<i1>) -> tensor<i1>
  func.return %z : tensor<i1>
}

// Nothing else without operands merges, but equal iotas count as one operand.

// CHECK-LABEL: @no_operands
// CHECK: %i = hlo.iota
// CHECK: %j = hlo.iota
// CHECK: %k = hlo.iota
// CHECK: hlo.partition_id
// CHECK-NOT: hlo.partition_id
// CHECK: %a = hlo.multiply(%i, %i)
// CHECK-NOT: hlo.multiply(%j, %j)
// CHECK: %c = hlo.multiply(%k, %k)
func.func @no_operands() -> tensor<2x2xi32> {
  %i = hlo.iota() {iota_dimension = 0 : i64} : () -> tensor<2x2xi32>
  %j = hlo.iota() {iota_dimension = 0 : i64} : () -> tensor<2x2xi32>
  %k = hlo.iota() {iota_dimension = 1 : i64} : () -> tensor<2x2xi32>
  %p = hlo.partition_id() : () -> tensor<ui32>
  %q = hlo.partition_id() : () -> tensor<ui32>
  %a = hlo.multiply(%i, %i) : (tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi32>
  %b = hlo.multiply(%j, %j) : (tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi32>
  %c = hlo.multiply(%k, %k) : (tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi32>
  %t = hlo.tuple(%p, %q) : (tensor<ui32>, tensor<ui32>) -> tuple<tensor<ui32>, tensor<ui32>>
  %d = hlo.add(%a, %b) : (tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi32>
  %e = hlo.add(%d, %c) : (tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi32>
  func.return %e : tensor<2x2xi32>
}

// Shardings, backend_config and accuracy count; so do effects, control dependencies and MUST_FUSE.

// CHECK-LABEL: @kept_apart
// CHECK-COUNT-9: hlo.negate(%x)
// CHECK-COUNT-2: hlo.rng
// CHECK-COUNT-2: custom_call_target = "effect"
// CHECK: custom_call_target = "none"
// CHECK-NOT: custom_call_target = "none"
// CHECK: func.return
func.func @kept_apart(%x: !f) -> !f {
  %a = hlo.negate(%x) : (!f) -> !f
  %b = hlo.negate(%x) {sharding = #hlo.sharding<"{replicated}">} : (!f) -> !f
  %c = hlo.negate(%x) {backend_config = "{}"} : (!f) -> !f
  %d = hlo.negate(%x) {result_accuracy = "{mode=highest}"} : (!f) -> !f
  %e = hlo.negate(%x) {frontend_attributes = {MUST_FUSE = "1"}} : (!f) -> !f
  %g = hlo.negate(%x) {frontend_attributes = {MUST_FUSE = "1"}} : (!f) -> !f
  %h = hlo.negate(%x) : (!f) -> !f
  %i = hlo.negate(%x) {frontend_attributes = {other = "1"}} : (!f) -> !f
  %j = hlo.negate(%x) : (!f) -> !f
  %k = hlo.negate(%x) : (!f) -> !f
  hlo.control_dependency(%h, %k) : (!f, !f) -> ()
  %m = hlo.negate(%x) {sharding = #hlo.sharding<"{manual}">} : (!f) -> !f
  %r = hlo.rng(%x, %x) {distribution = "rng_uniform"} : (!f, !f) -> !f
  %s = hlo.rng(%x, %x) {distribution = "rng_uniform"} : (!f, !f) -> !f
  %t = hlo.custom_call(%x) {custom_call_target = "effect", custom_call_has_side_effect} : (!f) -> !f
  %u = hlo.custom_call(%x) {custom_call_target = "effect", custom_call_has_side_effect} : (!f) -> !f
  %v = hlo.custom_call(%x) {custom_call_target = "none"} : (!f) -> !f
  %w = hlo.custom_call(%x) {custom_call_target = "none"} : (!f) -> !f
  func.return %x : !f
}

// Types that differ in layout merge only where layouts do not count, and never under a function's return.

// CHECK-LABEL: @layouts
// CHECK: hlo.tuple(%a, %b)
// LOOSE-LABEL: @layouts
// LOOSE: hlo.tuple(%a, %a)
// LOOSE: func.return %c
func.func @layouts(%x: tensor<2x2xf32>) -> tensor<2x2xf32, #hlo.layout<"{0,1}">> {
  %a = hlo.negate(%x) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %b = hlo.negate(%x) : (tensor<2x2xf32>) -> tensor<2x2xf32, #hlo.layout<"{0,1}">>
  %t = hlo.tuple(%a, %b) : (tensor<2x2xf32>, tensor<2x2xf32, #hlo.layout<"{0,1}">>) -> tuple<tensor<2x2xf32>, tensor<2x2xf32, #hlo.layout<"{0,1}">>>
  %c = hlo.negate(%x) : (tensor<2x2xf32>) -> tensor<2x2xf32, #hlo.layout<"{0,1}">>
  func.return %c : tensor<2x2xf32, #hlo.layout<"{0,1}">>
}

// Only scalars: vectors stay.

// SCALARS-LABEL: @vectors
// SCALARS: hlo.tuple(%a, %b, %c, %c)
func.func @vectors(%x: !v, %y: !f) -> tuple<tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>> {
  %a = hlo.negate(%x) : (!v) -> !v
  %b = hlo.negate(%x) : (!v) -> !v
  %c = hlo.negate(%y) : (!f) -> !f
  %d = hlo.negate(%y) : (!f) -> !f
  %t = hlo.tuple(%a, %b, %c, %d) : (!v, !v, !f, !f) -> tuple<tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>>
  func.return %t : tuple<tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>>
}

// Loops merge if all that is inside is equal, a change of type in the middle included.

// CHECK-LABEL: @loops
// CHECK: %first = hlo.while
// CHECK-NOT: %second
// CHECK: %third = hlo.while
// CHECK: hlo.tuple(%first, %first, %third)
func.func @loops(%x: tensor<i32>) -> tuple<tensor<i32>, tensor<i32>, tensor<i32>> {
  %first = hlo.while(%x) cond {
  ^bb0(%p: tensor<i32>):
    %c = hlo.compare(%p, %p) {direction = "LT"} : (tensor<i32>, tensor<i32>) -> tensor<i1>
    hlo.return(%c) : (tensor<i1>) -> ()
  } body {
  ^bb0(%p: tensor<i32>):
    %n = hlo.convert(%p) : (tensor<i32>) -> tensor<i8>
    %w = hlo.convert(%n) : (tensor<i8>) -> tensor<i32>
    hlo.return(%w) : (tensor<i32>) -> ()
  } : (tensor<i32>) -> tensor<i32>
  %second = hlo.while(%x) cond {
  ^bb0(%q: tensor<i32>):
    %c = hlo.compare(%q, %q) {direction = "LT"} : (tensor<i32>, tensor<i32>) -> tensor<i1>
    hlo.return(%c) : (tensor<i1>) -> ()
  } body {
  ^bb0(%q: tensor<i32>):
    %n = hlo.convert(%q) {metadata = {op_name = "elsewhere"}} : (tensor<i32>) -> tensor<i8>
    %w = hlo.convert(%n) : (tensor<i8>) -> tensor<i32>
    hlo.return(%w) : (tensor<i32>) -> ()
  } : (tensor<i32>) -> tensor<i32>
  %third = hlo.while(%x) cond {
  ^bb0(%p: tensor<i32>):
    %c = hlo.compare(%p, %p) {direction = "LT"} : (tensor<i32>, tensor<i32>) -> tensor<i1>
    hlo.return(%c) : (tensor<i1>) -> ()
  } body {
  ^bb0(%p: tensor<i32>):
    %n = hlo.convert(%p) : (tensor<i32>) -> tensor<i16>
    %w = hlo.convert(%n) : (tensor<i16>) -> tensor<i32>
    hlo.return(%w) : (tensor<i32>) -> ()
  } : (tensor<i32>) -> tensor<i32>
  %t = hlo.tuple(%first, %second, %third) : (tensor<i32>, tensor<i32>, tensor<i32>) -> tuple<tensor<i32>, tensor<i32>, tensor<i32>>
  func.return %t : tuple<tensor<i32>, tensor<i32>, tensor<i32>>
}

// Calls merge by what the functions say, not by their names; a function with an effect keeps its calls.

// CHECK-LABEL: @calls
// CHECK: hlo.tuple(%a, %a, %c, %d, %e)
func.func @calls(%x: !f) -> tuple<tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>> {
  %a = func.call @negated(%x) : (!f) -> !f
  %b = func.call @also_negated(%x) : (!f) -> !f
  %c = func.call @absolute(%x) : (!f) -> !f
  %d = func.call @random(%x) : (!f) -> !f
  %e = func.call @random(%x) : (!f) -> !f
  %t = hlo.tuple(%a, %b, %c, %d, %e) : (!f, !f, !f, !f, !f) -> tuple<tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>>
  func.return %t : tuple<tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>>
}
func.func private @negated(%x: !f) -> !f {
  %r = hlo.negate(%x) : (!f) -> !f
  func.return %r : !f
}
func.func private @also_negated(%y: !f) -> !f {
  %n = hlo.negate(%y) : (!f) -> !f
  func.return %n : !f
}
func.func private @absolute(%y: !f) -> !f {
  %n = hlo.abs(%y) : (!f) -> !f
  func.return %n : !f
}
func.func private @random(%x: !f) -> !f {
  %r = hlo.rng(%x, %x) {distribution = "rng_uniform"} : (!f, !f) -> !f
  func.return %r : !f
}

// Constants of different sharding domains stay apart.

// CHECK-LABEL: @domains
// CHECK: hlo.add(%a, %b)
func.func @domains() -> !f {
  %a = hlo.constant() {value = #hlo.literal<"1" : tensor<f32>>} : () -> !f
  %b = hlo.constant() {value = #hlo.literal<"1" : tensor<f32>>} : () -> !f
  %s = hlo.add(%a, %b) : (!f, !f) -> !f
  %d = hlo.domain(%s) {domain = "{kind=\"sharding\", entry={replicated}, exit={manual}}"} : (!f) -> !f
  func.return %d : !f
}
