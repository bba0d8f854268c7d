// RUN: XNEURON_ROUNDTRIP

// Every elementwise operation, in the dialect's own form and through the generic one.

builtin.module {
  func.func private @elementwise(%f4: tensor<4xf32>, %s4: tensor<4xi32>, %c4: tensor<4xcomplex<f32>>, %u4: tensor<4xui32>, %p4: tensor<4xi1>, %p: tensor<i1>, %f: tensor<f32>, %fd: tensor<?xf32>) {
    // CHECK: %abs = hlo.abs(%f4) : (tensor<4xf32>) -> tensor<4xf32>
    %abs = hlo.abs(%f4) : (tensor<4xf32>) -> tensor<4xf32>

    // CHECK: %acos = hlo.acos(%f4) : (tensor<4xf32>) -> tensor<4xf32>
    %acos = hlo.acos(%f4) : (tensor<4xf32>) -> tensor<4xf32>

    // CHECK: %acosh = hlo.acosh(%f4) : (tensor<4xf32>) -> tensor<4xf32>
    %acosh = hlo.acosh(%f4) : (tensor<4xf32>) -> tensor<4xf32>

    // CHECK: %asin = hlo.asin(%f4) : (tensor<4xf32>) -> tensor<4xf32>
    %asin = hlo.asin(%f4) : (tensor<4xf32>) -> tensor<4xf32>

    // CHECK: %asinh = hlo.asinh(%f4) : (tensor<4xf32>) -> tensor<4xf32>
    %asinh = hlo.asinh(%f4) : (tensor<4xf32>) -> tensor<4xf32>

    // CHECK: %atanh = hlo.atanh(%f4) : (tensor<4xf32>) -> tensor<4xf32>
    %atanh = hlo.atanh(%f4) : (tensor<4xf32>) -> tensor<4xf32>

    // CHECK: %cbrt = hlo.cbrt(%f4) : (tensor<4xf32>) -> tensor<4xf32>
    %cbrt = hlo.cbrt(%f4) : (tensor<4xf32>) -> tensor<4xf32>

    // CHECK: %ceil = hlo.ceil(%f4) : (tensor<4xf32>) -> tensor<4xf32>
    %ceil = hlo.ceil(%f4) : (tensor<4xf32>) -> tensor<4xf32>

    // CHECK: %cosh = hlo.cosh(%f4) : (tensor<4xf32>) -> tensor<4xf32>
    %cosh = hlo.cosh(%f4) : (tensor<4xf32>) -> tensor<4xf32>

    // CHECK: %cosine = hlo.cosine(%f4) : (tensor<4xf32>) -> tensor<4xf32>
    %cosine = hlo.cosine(%f4) : (tensor<4xf32>) -> tensor<4xf32>

    // CHECK: %erf = hlo.erf(%f4) : (tensor<4xf32>) -> tensor<4xf32>
    %erf = hlo.erf(%f4) : (tensor<4xf32>) -> tensor<4xf32>

    // CHECK: %exponential = hlo.exponential(%f4) : (tensor<4xf32>) -> tensor<4xf32>
    %exponential = hlo.exponential(%f4) : (tensor<4xf32>) -> tensor<4xf32>

    // CHECK: %exponential_minus_one = hlo.exponential_minus_one(%f4) : (tensor<4xf32>) -> tensor<4xf32>
    %exponential_minus_one = hlo.exponential_minus_one(%f4) : (tensor<4xf32>) -> tensor<4xf32>

    // CHECK: %floor = hlo.floor(%f4) : (tensor<4xf32>) -> tensor<4xf32>
    %floor = hlo.floor(%f4) : (tensor<4xf32>) -> tensor<4xf32>

    // CHECK: %log = hlo.log(%f4) : (tensor<4xf32>) -> tensor<4xf32>
    %log = hlo.log(%f4) : (tensor<4xf32>) -> tensor<4xf32>

    // CHECK: %log_plus_one = hlo.log_plus_one(%f4) : (tensor<4xf32>) -> tensor<4xf32>
    %log_plus_one = hlo.log_plus_one(%f4) : (tensor<4xf32>) -> tensor<4xf32>

    // CHECK: %logistic = hlo.logistic(%f4) : (tensor<4xf32>) -> tensor<4xf32>
    %logistic = hlo.logistic(%f4) : (tensor<4xf32>) -> tensor<4xf32>

    // CHECK: %negate = hlo.negate(%f4) : (tensor<4xf32>) -> tensor<4xf32>
    %negate = hlo.negate(%f4) : (tensor<4xf32>) -> tensor<4xf32>

    // CHECK: %real = hlo.real(%f4) : (tensor<4xf32>) -> tensor<4xf32>
    %real = hlo.real(%f4) : (tensor<4xf32>) -> tensor<4xf32>

    // CHECK: %imag = hlo.imag(%f4) : (tensor<4xf32>) -> tensor<4xf32>
    %imag = hlo.imag(%f4) : (tensor<4xf32>) -> tensor<4xf32>

    // CHECK: %round_nearest_afz = hlo.round_nearest_afz(%f4) : (tensor<4xf32>) -> tensor<4xf32>
    %round_nearest_afz = hlo.round_nearest_afz(%f4) : (tensor<4xf32>) -> tensor<4xf32>

    // CHECK: %round_nearest_even = hlo.round_nearest_even(%f4) : (tensor<4xf32>) -> tensor<4xf32>
    %round_nearest_even = hlo.round_nearest_even(%f4) : (tensor<4xf32>) -> tensor<4xf32>

    // CHECK: %rsqrt = hlo.rsqrt(%f4) : (tensor<4xf32>) -> tensor<4xf32>
    %rsqrt = hlo.rsqrt(%f4) : (tensor<4xf32>) -> tensor<4xf32>

    // CHECK: %sign = hlo.sign(%f4) : (tensor<4xf32>) -> tensor<4xf32>
    %sign = hlo.sign(%f4) : (tensor<4xf32>) -> tensor<4xf32>

    // CHECK: %sine = hlo.sine(%f4) : (tensor<4xf32>) -> tensor<4xf32>
    %sine = hlo.sine(%f4) : (tensor<4xf32>) -> tensor<4xf32>

    // CHECK: %sinh = hlo.sinh(%f4) : (tensor<4xf32>) -> tensor<4xf32>
    %sinh = hlo.sinh(%f4) : (tensor<4xf32>) -> tensor<4xf32>

    // CHECK: %sqrt = hlo.sqrt(%f4) : (tensor<4xf32>) -> tensor<4xf32>
    %sqrt = hlo.sqrt(%f4) : (tensor<4xf32>) -> tensor<4xf32>

    // CHECK: %tan = hlo.tan(%f4) : (tensor<4xf32>) -> tensor<4xf32>
    %tan = hlo.tan(%f4) : (tensor<4xf32>) -> tensor<4xf32>

    // CHECK: %tanh = hlo.tanh(%f4) : (tensor<4xf32>) -> tensor<4xf32>
    %tanh = hlo.tanh(%f4) : (tensor<4xf32>) -> tensor<4xf32>

    // CHECK: %count_leading_zeros = hlo.count_leading_zeros(%s4) : (tensor<4xi32>) -> tensor<4xi32>
    %count_leading_zeros = hlo.count_leading_zeros(%s4) : (tensor<4xi32>) -> tensor<4xi32>

    // CHECK: %not = hlo.not(%s4) : (tensor<4xi32>) -> tensor<4xi32>
    %not = hlo.not(%s4) : (tensor<4xi32>) -> tensor<4xi32>

    // CHECK: %popcnt = hlo.popcnt(%s4) : (tensor<4xi32>) -> tensor<4xi32>
    %popcnt = hlo.popcnt(%s4) : (tensor<4xi32>) -> tensor<4xi32>

    // CHECK: %is_finite = hlo.is_finite(%f4) : (tensor<4xf32>) -> tensor<4xi1>
    %is_finite = hlo.is_finite(%f4) : (tensor<4xf32>) -> tensor<4xi1>

    // CHECK: %magnitude = hlo.abs(%c4) : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
    %magnitude = hlo.abs(%c4) : (tensor<4xcomplex<f32>>) -> tensor<4xf32>

    // CHECK: %real_part = hlo.real(%c4) : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
    %real_part = hlo.real(%c4) : (tensor<4xcomplex<f32>>) -> tensor<4xf32>

    // CHECK: %add = hlo.add(%f4, %f4) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %add = hlo.add(%f4, %f4) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

    // CHECK: %atan2 = hlo.atan2(%f4, %f4) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %atan2 = hlo.atan2(%f4, %f4) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

    // CHECK: %divide = hlo.divide(%f4, %f4) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %divide = hlo.divide(%f4, %f4) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

    // CHECK: %maximum = hlo.maximum(%f4, %f4) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %maximum = hlo.maximum(%f4, %f4) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

    // CHECK: %minimum = hlo.minimum(%f4, %f4) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %minimum = hlo.minimum(%f4, %f4) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

    // CHECK: %multiply = hlo.multiply(%f4, %f4) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %multiply = hlo.multiply(%f4, %f4) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

    // CHECK: %power = hlo.power(%f4, %f4) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %power = hlo.power(%f4, %f4) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

    // CHECK: %remainder = hlo.remainder(%f4, %f4) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %remainder = hlo.remainder(%f4, %f4) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

    // CHECK: %subtract = hlo.subtract(%f4, %f4) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %subtract = hlo.subtract(%f4, %f4) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

    // CHECK: %and = hlo.and(%s4, %s4) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
    %and = hlo.and(%s4, %s4) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>

    // CHECK: %or = hlo.or(%s4, %s4) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
    %or = hlo.or(%s4, %s4) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>

    // CHECK: %xor = hlo.xor(%s4, %s4) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
    %xor = hlo.xor(%s4, %s4) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>

    // CHECK: %mulhi = hlo.mulhi(%s4, %s4) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
    %mulhi = hlo.mulhi(%s4, %s4) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>

    // CHECK: %shift_left = hlo.shift_left(%s4, %s4) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
    %shift_left = hlo.shift_left(%s4, %s4) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>

    // CHECK: %shift_right_arithmetic = hlo.shift_right_arithmetic(%s4, %s4) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
    %shift_right_arithmetic = hlo.shift_right_arithmetic(%s4, %s4) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>

    // CHECK: %shift_right_logical = hlo.shift_right_logical(%s4, %s4) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
    %shift_right_logical = hlo.shift_right_logical(%s4, %s4) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>

    // CHECK: %complex = hlo.complex(%f4, %f4) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xcomplex<f32>>
    %complex = hlo.complex(%f4, %f4) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xcomplex<f32>>

    // CHECK: %stochastic_convert = hlo.stochastic_convert(%f4, %u4) : (tensor<4xf32>, tensor<4xui32>) -> tensor<4xi32>
    %stochastic_convert = hlo.stochastic_convert(%f4, %u4) : (tensor<4xf32>, tensor<4xui32>) -> tensor<4xi32>

    // CHECK: %convert = hlo.convert(%f4) : (tensor<4xf32>) -> tensor<4xbf16>
    %convert = hlo.convert(%f4) : (tensor<4xf32>) -> tensor<4xbf16>

    // CHECK: %to_complex = hlo.convert(%s4) : (tensor<4xi32>) -> tensor<4xcomplex<f32>>
    %to_complex = hlo.convert(%s4) : (tensor<4xi32>) -> tensor<4xcomplex<f32>>

    // CHECK: %from_pred = hlo.convert(%p4) : (tensor<4xi1>) -> tensor<4xi32>
    %from_pred = hlo.convert(%p4) : (tensor<4xi1>) -> tensor<4xi32>

    // CHECK: %bitcast_convert = hlo.bitcast_convert(%f4) : (tensor<4xf32>) -> tensor<4xi32>
    %bitcast_convert = hlo.bitcast_convert(%f4) : (tensor<4xf32>) -> tensor<4xi32>

    // CHECK: %from_integers = hlo.bitcast_convert(%s4) : (tensor<4xi32>) -> tensor<4xf32>
    %from_integers = hlo.bitcast_convert(%s4) : (tensor<4xi32>) -> tensor<4xf32>

    // CHECK: %from_preds = hlo.bitcast_convert(%p4) : (tensor<4xi1>) -> tensor<4xi1>
    %from_preds = hlo.bitcast_convert(%p4) : (tensor<4xi1>) -> tensor<4xi1>

    // CHECK: %narrower = hlo.bitcast_convert(%f4) : (tensor<4xf32>) -> tensor<4x2xui16>
    %narrower = hlo.bitcast_convert(%f4) : (tensor<4xf32>) -> tensor<4x2xui16>

    // CHECK: %wider = hlo.bitcast_convert(%narrower) : (tensor<4x2xui16>) -> tensor<4xui32>
    %wider = hlo.bitcast_convert(%narrower) : (tensor<4x2xui16>) -> tensor<4xui32>

    // CHECK: %reduce_precision = hlo.reduce_precision(%f4) {exponent_bits = 5 : i64, mantissa_bits = 10 : i64} : (tensor<4xf32>) -> tensor<4xf32>
    %reduce_precision = hlo.reduce_precision(%f4) {exponent_bits = 5 : i64, mantissa_bits = 10 : i64} : (tensor<4xf32>) -> tensor<4xf32>

    // CHECK: %compare = hlo.compare(%f4, %f4) {direction = "LT"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %compare = hlo.compare(%f4, %f4) {direction = "LT"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>

    // CHECK: %total_order = hlo.compare(%f4, %f4) {direction = "GE", compare_type = "TOTALORDER"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %total_order = hlo.compare(%f4, %f4) {direction = "GE", compare_type = "TOTALORDER"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>

    // CHECK: %select = hlo.select(%p4, %f4, %f4) : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %select = hlo.select(%p4, %f4, %f4) : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

    // CHECK: %select_by_scalar = hlo.select(%p, %f4, %f4) : (tensor<i1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %select_by_scalar = hlo.select(%p, %f4, %f4) : (tensor<i1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

    // CHECK: %clamp = hlo.clamp(%f4, %f4, %f4) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %clamp = hlo.clamp(%f4, %f4, %f4) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

    // CHECK: %clamp_by_scalars = hlo.clamp(%f, %f4, %f) : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    %clamp_by_scalars = hlo.clamp(%f, %f4, %f) : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>

    // CHECK: %map = hlo.map(%f4, %s4) {dimensions = array<i64: 0>} to_apply {
    // CHECK-NEXT: ^bb0(%a1: tensor<f32>, %b1: tensor<i32>):
    // CHECK-NEXT: %r1 = hlo.negate(%a1) : (tensor<f32>) -> tensor<f32>
    // CHECK-NEXT: hlo.return(%r1) : (tensor<f32>) -> ()
    // CHECK-NEXT: } : (tensor<4xf32>, tensor<4xi32>) -> tensor<4xf32>
    %map = hlo.map(%f4, %s4) {dimensions = array<i64: 0>} to_apply {
    ^bb0(%a1: tensor<f32>, %b1: tensor<i32>):
      %r1 = hlo.negate(%a1) : (tensor<f32>) -> tensor<f32>
      hlo.return(%r1) : (tensor<f32>) -> ()
    } : (tensor<4xf32>, tensor<4xi32>) -> tensor<4xf32>

    // A dynamic extent fits any other.
    // CHECK: %dynamic = hlo.add(%fd, %f4) : (tensor<?xf32>, tensor<4xf32>) -> tensor<?xf32>
    %dynamic = hlo.add(%fd, %f4) : (tensor<?xf32>, tensor<4xf32>) -> tensor<?xf32>
    func.return
  }
}
