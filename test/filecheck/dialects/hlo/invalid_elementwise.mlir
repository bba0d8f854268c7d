// RUN: xdsl-opt %s --split-input-file --verify-diagnostics | filecheck %s

%u4 = "test.op"() : () -> tensor<4xui32>
// CHECK: abs: expected element type of operand to be signed, floating or complex, found u32[4]
%r = hlo.abs(%u4) : (tensor<4xui32>) -> tensor<4xui32>

// -----

%u4 = "test.op"() : () -> tensor<4xui32>
// CHECK: sign: expected element type of operand to be signed, floating or complex, found u32[4]
%r = hlo.sign(%u4) : (tensor<4xui32>) -> tensor<4xui32>

// -----

%s4 = "test.op"() : () -> tensor<4xi32>
// CHECK: acos: expected element type of operand to be floating or complex, found s32[4]
%r = hlo.acos(%s4) : (tensor<4xi32>) -> tensor<4xi32>

// -----

%s4 = "test.op"() : () -> tensor<4xi32>
// CHECK: acosh: expected element type of operand to be floating or complex, found s32[4]
%r = hlo.acosh(%s4) : (tensor<4xi32>) -> tensor<4xi32>

// -----

%s4 = "test.op"() : () -> tensor<4xi32>
// CHECK: asin: expected element type of operand to be floating or complex, found s32[4]
%r = hlo.asin(%s4) : (tensor<4xi32>) -> tensor<4xi32>

// -----

%s4 = "test.op"() : () -> tensor<4xi32>
// CHECK: asinh: expected element type of operand to be floating or complex, found s32[4]
%r = hlo.asinh(%s4) : (tensor<4xi32>) -> tensor<4xi32>

// -----

%s4 = "test.op"() : () -> tensor<4xi32>
// CHECK: atanh: expected element type of operand to be floating or complex, found s32[4]
%r = hlo.atanh(%s4) : (tensor<4xi32>) -> tensor<4xi32>

// -----

%s4 = "test.op"() : () -> tensor<4xi32>
// CHECK: cosh: expected element type of operand to be floating or complex, found s32[4]
%r = hlo.cosh(%s4) : (tensor<4xi32>) -> tensor<4xi32>

// -----

%s4 = "test.op"() : () -> tensor<4xi32>
// CHECK: cosine: expected element type of operand to be floating or complex, found s32[4]
%r = hlo.cosine(%s4) : (tensor<4xi32>) -> tensor<4xi32>

// -----

%s4 = "test.op"() : () -> tensor<4xi32>
// CHECK: exponential: expected element type of operand to be floating or complex, found s32[4]
%r = hlo.exponential(%s4) : (tensor<4xi32>) -> tensor<4xi32>

// -----

%s4 = "test.op"() : () -> tensor<4xi32>
// CHECK: exponential-minus-one: expected element type of operand to be floating or complex, found s32[4]
%r = hlo.exponential_minus_one(%s4) : (tensor<4xi32>) -> tensor<4xi32>

// -----

%s4 = "test.op"() : () -> tensor<4xi32>
// CHECK: imag: expected element type of operand to be floating or complex, found s32[4]
%r = hlo.imag(%s4) : (tensor<4xi32>) -> tensor<4xi32>

// -----

%s4 = "test.op"() : () -> tensor<4xi32>
// CHECK: log: expected element type of operand to be floating or complex, found s32[4]
%r = hlo.log(%s4) : (tensor<4xi32>) -> tensor<4xi32>

// -----

%s4 = "test.op"() : () -> tensor<4xi32>
// CHECK: log-plus-one: expected element type of operand to be floating or complex, found s32[4]
%r = hlo.log_plus_one(%s4) : (tensor<4xi32>) -> tensor<4xi32>

// -----

%s4 = "test.op"() : () -> tensor<4xi32>
// CHECK: logistic: expected element type of operand to be floating or complex, found s32[4]
%r = hlo.logistic(%s4) : (tensor<4xi32>) -> tensor<4xi32>

// -----

%s4 = "test.op"() : () -> tensor<4xi32>
// CHECK: real: expected element type of operand to be floating or complex, found s32[4]
%r = hlo.real(%s4) : (tensor<4xi32>) -> tensor<4xi32>

// -----

%s4 = "test.op"() : () -> tensor<4xi32>
// CHECK: rsqrt: expected element type of operand to be floating or complex, found s32[4]
%r = hlo.rsqrt(%s4) : (tensor<4xi32>) -> tensor<4xi32>

// -----

%s4 = "test.op"() : () -> tensor<4xi32>
// CHECK: sine: expected element type of operand to be floating or complex, found s32[4]
%r = hlo.sine(%s4) : (tensor<4xi32>) -> tensor<4xi32>

// -----

%s4 = "test.op"() : () -> tensor<4xi32>
// CHECK: sinh: expected element type of operand to be floating or complex, found s32[4]
%r = hlo.sinh(%s4) : (tensor<4xi32>) -> tensor<4xi32>

// -----

%s4 = "test.op"() : () -> tensor<4xi32>
// CHECK: sqrt: expected element type of operand to be floating or complex, found s32[4]
%r = hlo.sqrt(%s4) : (tensor<4xi32>) -> tensor<4xi32>

// -----

%s4 = "test.op"() : () -> tensor<4xi32>
// CHECK: tan: expected element type of operand to be floating or complex, found s32[4]
%r = hlo.tan(%s4) : (tensor<4xi32>) -> tensor<4xi32>

// -----

%s4 = "test.op"() : () -> tensor<4xi32>
// CHECK: tanh: expected element type of operand to be floating or complex, found s32[4]
%r = hlo.tanh(%s4) : (tensor<4xi32>) -> tensor<4xi32>

// -----

%c4 = "test.op"() : () -> tensor<4xcomplex<f32>>
// CHECK: cbrt: expected element type of operand to be floating, found c64[4]
%r = hlo.cbrt(%c4) : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>

// -----

%c4 = "test.op"() : () -> tensor<4xcomplex<f32>>
// CHECK: ceil: expected element type of operand to be floating, found c64[4]
%r = hlo.ceil(%c4) : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>

// -----

%c4 = "test.op"() : () -> tensor<4xcomplex<f32>>
// CHECK: erf: expected element type of operand to be floating, found c64[4]
%r = hlo.erf(%c4) : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>

// -----

%c4 = "test.op"() : () -> tensor<4xcomplex<f32>>
// CHECK: floor: expected element type of operand to be floating, found c64[4]
%r = hlo.floor(%c4) : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>

// -----

%c4 = "test.op"() : () -> tensor<4xcomplex<f32>>
// CHECK: round-nearest-afz: expected element type of operand to be floating, found c64[4]
%r = hlo.round_nearest_afz(%c4) : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>

// -----

%c4 = "test.op"() : () -> tensor<4xcomplex<f32>>
// CHECK: round-nearest-even: expected element type of operand to be floating, found c64[4]
%r = hlo.round_nearest_even(%c4) : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>

// -----

%s4 = "test.op"() : () -> tensor<4xi32>
// CHECK: is-finite: expected element type of operand to be floating, found s32[4]
%r = hlo.is_finite(%s4) : (tensor<4xi32>) -> tensor<4xi1>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: is-finite: expected result pred[4], found f32[4]
%r = hlo.is_finite(%f4) : (tensor<4xf32>) -> tensor<4xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: count-leading-zeros: expected element type of operand to be integral, found f32[4]
%r = hlo.count_leading_zeros(%f4) : (tensor<4xf32>) -> tensor<4xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: popcnt: expected element type of operand to be integral, found f32[4]
%r = hlo.popcnt(%f4) : (tensor<4xf32>) -> tensor<4xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: not: expected element type of operand to be pred or integral, found f32[4]
%r = hlo.not(%f4) : (tensor<4xf32>) -> tensor<4xf32>

// -----

%p4 = "test.op"() : () -> tensor<4xi1>
// CHECK: negate: expected element type of operand to be arithmetic, found pred[4]
%r = hlo.negate(%p4) : (tensor<4xi1>) -> tensor<4xi1>

// -----

%c4 = "test.op"() : () -> tensor<4xcomplex<f32>>
// CHECK: abs: expected result f32[4], found c64[4]
%r = hlo.abs(%c4) : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>

// -----

%tok = "test.op"() : () -> !hlo.token
// CHECK: negate: expected an array as operand, found token[]
%r = hlo.negate(%tok) : (!hlo.token) -> !hlo.token

// -----

%fs = "test.op"() : () -> tuple<tensor<4xf32>, tensor<i32>>
// CHECK: negate: expected an array as operand, found (f32[4], s32[])
%r = hlo.negate(%fs) : (tuple<tensor<4xf32>, tensor<i32>>) -> tuple<tensor<4xf32>, tensor<i32>>

// -----

%i4 = "test.op"() : () -> tensor<4xindex>
// CHECK: negate: expected an array as operand, found tensor<4xindex>
%r = hlo.negate(%i4) : (tensor<4xindex>) -> tensor<4xindex>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
%f3 = "test.op"() : () -> tensor<3xf32>
// CHECK: add: expected operands of one shape, found f32[4], f32[3]
%r = hlo.add(%f4, %f3) : (tensor<4xf32>, tensor<3xf32>) -> tensor<4xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
%f3 = "test.op"() : () -> tensor<3xf32>
// CHECK: maximum: expected operands of one shape, found f32[4], f32[3]
%r = hlo.maximum(%f4, %f3) : (tensor<4xf32>, tensor<3xf32>) -> tensor<4xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
%f3 = "test.op"() : () -> tensor<3xf32>
// CHECK: minimum: expected operands of one shape, found f32[4], f32[3]
%r = hlo.minimum(%f4, %f3) : (tensor<4xf32>, tensor<3xf32>) -> tensor<4xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
%f3 = "test.op"() : () -> tensor<3xf32>
// CHECK: multiply: expected operands of one shape, found f32[4], f32[3]
%r = hlo.multiply(%f4, %f3) : (tensor<4xf32>, tensor<3xf32>) -> tensor<4xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
%h4 = "test.op"() : () -> tensor<4xbf16>
// CHECK: add: expected operands of one shape, found f32[4], bf16[4]
%r = hlo.add(%f4, %h4) : (tensor<4xf32>, tensor<4xbf16>) -> tensor<4xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
%f = "test.op"() : () -> tensor<f32>
// CHECK: add: expected operands of one shape, found f32[4], f32[]
%r = hlo.add(%f4, %f) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: add: expected result f32[4], found f32[3]
%r = hlo.add(%f4, %f4) : (tensor<4xf32>, tensor<4xf32>) -> tensor<3xf32>

// -----

%p4 = "test.op"() : () -> tensor<4xi1>
// CHECK: divide: expected element type of operand to be arithmetic, found pred[4]
%r = hlo.divide(%p4, %p4) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>

// -----

%p4 = "test.op"() : () -> tensor<4xi1>
// CHECK: power: expected element type of operand to be arithmetic, found pred[4]
%r = hlo.power(%p4, %p4) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>

// -----

%p4 = "test.op"() : () -> tensor<4xi1>
// CHECK: remainder: expected element type of operand to be arithmetic, found pred[4]
%r = hlo.remainder(%p4, %p4) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>

// -----

%p4 = "test.op"() : () -> tensor<4xi1>
// CHECK: subtract: expected element type of operand to be arithmetic, found pred[4]
%r = hlo.subtract(%p4, %p4) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>

// -----

%s4 = "test.op"() : () -> tensor<4xi32>
// CHECK: atan2: expected element type of operand to be floating or complex, found s32[4]
%r = hlo.atan2(%s4, %s4) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: and: expected element type of operand to be pred or integral, found f32[4]
%r = hlo.and(%f4, %f4) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: or: expected element type of operand to be pred or integral, found f32[4]
%r = hlo.or(%f4, %f4) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: xor: expected element type of operand to be pred or integral, found f32[4]
%r = hlo.xor(%f4, %f4) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: mulhi: expected element type of operand to be integral, found f32[4]
%r = hlo.mulhi(%f4, %f4) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: shift-left: expected element type of operand to be integral, found f32[4]
%r = hlo.shift_left(%f4, %f4) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: shift-right-arithmetic: expected element type of operand to be integral, found f32[4]
%r = hlo.shift_right_arithmetic(%f4, %f4) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: shift-right-logical: expected element type of operand to be integral, found f32[4]
%r = hlo.shift_right_logical(%f4, %f4) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

// -----

%h4 = "test.op"() : () -> tensor<4xbf16>
// CHECK: complex: expected parts of f32 or f64, found bf16[4]
%r = hlo.complex(%h4, %h4) : (tensor<4xbf16>, tensor<4xbf16>) -> tensor<4xcomplex<f32>>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: complex: expected result c64[4], found f32[4]
%r = hlo.complex(%f4, %f4) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
%s4 = "test.op"() : () -> tensor<4xi32>
// CHECK: stochastic-convert: expected element type of random bits to be unsigned integral, found s32[4]
%r = hlo.stochastic_convert(%f4, %s4) : (tensor<4xf32>, tensor<4xi32>) -> tensor<4xi32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
%w4 = "test.op"() : () -> tensor<4xui16>
// CHECK: stochastic-convert: expected 32 random bits, found u16[4]
%r = hlo.stochastic_convert(%f4, %w4) : (tensor<4xf32>, tensor<4xui16>) -> tensor<4xi32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: convert: expected operand and result of the same dimensions, found f32[4], f32[3]
%r = hlo.convert(%f4) : (tensor<4xf32>) -> tensor<3xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: bitcast-convert: expected both or neither to be complex, found f32 to c64
%r = hlo.bitcast_convert(%f4) : (tensor<4xf32>) -> tensor<4xcomplex<f32>>

// -----

%f3 = "test.op"() : () -> tensor<3xf32>
// CHECK: bitcast-convert: expected a last dimension of 2 to become f64, found f32[3]
%r = hlo.bitcast_convert(%f3) : (tensor<3xf32>) -> tensor<f64>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: bitcast-convert: expected result u16[4,2], found u16[4]
%r = hlo.bitcast_convert(%f4) : (tensor<4xf32>) -> tensor<4xui16>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: reduce-precision: expected exponent_bits >= 1, found 0
%r = hlo.reduce_precision(%f4) {exponent_bits = 0 : i64, mantissa_bits = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: reduce-precision: expected mantissa_bits >= 0, found -1
%r = hlo.reduce_precision(%f4) {exponent_bits = 1 : i64, mantissa_bits = -1 : i64} : (tensor<4xf32>) -> tensor<4xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: compare: expected direction to be one of EQ, NE, GE, GT, LE, LT, found SLT
%r = hlo.compare(%f4, %f4) {direction = "SLT"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>

// -----

%s4 = "test.op"() : () -> tensor<4xi32>
// CHECK: compare: expected type for s32[4] to be one of SIGNED, found TOTALORDER
%r = hlo.compare(%s4, %s4) {direction = "LT", compare_type = "TOTALORDER"} : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>

// -----

%c4 = "test.op"() : () -> tensor<4xcomplex<f32>>
// CHECK: compare: expected direction of complex numbers to be EQ or NE, found LT
%r = hlo.compare(%c4, %c4) {direction = "LT"} : (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) -> tensor<4xi1>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: compare: expected result pred[4], found s32[4]
%r = hlo.compare(%f4, %f4) {direction = "LT"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi32>

// -----

%s4 = "test.op"() : () -> tensor<4xi32>
%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: select: expected element type of pred to be pred, found s32[4]
%r = hlo.select(%s4, %f4, %f4) : (tensor<4xi32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

// -----

%p4 = "test.op"() : () -> tensor<4xi1>
%f4 = "test.op"() : () -> tensor<4xf32>
%s4 = "test.op"() : () -> tensor<4xi32>
// CHECK: select: expected operands of one shape, found f32[4], s32[4]
%r = hlo.select(%p4, %f4, %s4) : (tensor<4xi1>, tensor<4xf32>, tensor<4xi32>) -> tensor<4xf32>

// -----

%p3 = "test.op"() : () -> tensor<3xi1>
%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: select: expected operands of the same dimensions, found pred[3], f32[4]
%r = hlo.select(%p3, %f4, %f4) : (tensor<3xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

// -----

%f3 = "test.op"() : () -> tensor<3xf32>
%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: clamp: expected bound of the operand's shape or scalar, f32[4], found f32[3]
%r = hlo.clamp(%f3, %f4, %f4) : (tensor<3xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

// -----

%f = "test.op"() : () -> tensor<f32>
%f4 = "test.op"() : () -> tensor<4xf32>
%s = "test.op"() : () -> tensor<i32>
// CHECK: clamp: expected bound of the operand's shape or scalar, f32[], found s32[]
%r = hlo.clamp(%f, %f4, %s) : (tensor<f32>, tensor<4xf32>, tensor<i32>) -> tensor<4xf32>

// -----

// CHECK: map: expected at least 1 operand, found 0
%r = hlo.map() to_apply {
^bb0(%a1: tensor<f32>):
  %r1 = hlo.negate(%a1) : (tensor<f32>) -> tensor<f32>
  hlo.return(%r1) : (tensor<f32>) -> ()
} : () -> tensor<4xf32>

// -----

%f23 = "test.op"() : () -> tensor<2x3xf32>
// CHECK: map: expected all dimensions in order, found {1,0}
%r = hlo.map(%f23) {dimensions = array<i64: 1, 0>} to_apply {
^bb0(%a2: tensor<f32>):
  %r2 = hlo.negate(%a2) : (tensor<f32>) -> tensor<f32>
  hlo.return(%r2) : (tensor<f32>) -> ()
} : (tensor<2x3xf32>) -> tensor<2x3xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: map: expected to_apply to take 2 parameters, found 1
%r = hlo.map(%f4, %f4) {dimensions = array<i64: 0>} to_apply {
^bb0(%a3: tensor<f32>):
  %r3 = hlo.negate(%a3) : (tensor<f32>) -> tensor<f32>
  hlo.return(%r3) : (tensor<f32>) -> ()
} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

// -----

%f4 = "test.op"() : () -> tensor<4xf32>
// CHECK: map: expected parameter 0 of to_apply to be f32[], found s32[]
%r = hlo.map(%f4) {dimensions = array<i64: 0>} to_apply {
^bb0(%a4: tensor<i32>):
  %r4 = hlo.negate(%a4) : (tensor<i32>) -> tensor<i32>
  hlo.return(%r4) : (tensor<i32>) -> ()
} : (tensor<4xf32>) -> tensor<4xi32>
