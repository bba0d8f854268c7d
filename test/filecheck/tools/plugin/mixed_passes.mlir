// Plain xdsl-opt, started in the same environment, has our dialects beside its own passes.

// RUN: xdsl-opt %s -p canonicalize,cse,dce | filecheck %s
// RUN: xdsl-opt %s --print-op-generic | xdsl-opt | filecheck %s --check-prefix=READ

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = hlo.add(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %b = hlo.add(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %unused = hlo.negate(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %c = hlo.multiply(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %c : tensor<4xf32>
}

// CHECK:      %a = hlo.add(%x, %x)
// CHECK-NEXT: %c = hlo.multiply(%a, %a)
// CHECK-NEXT: func.return %c
// READ: hlo.negate(%a)
