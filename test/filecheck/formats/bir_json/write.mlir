// RUN: xneuron-opt %s -t bir-json | filecheck %s
// RUN: xneuron-opt %s -t bir-json > %t.json
// RUN: xneuron-opt %t.json -t bir-json | diff - %t.json
// RUN: xneuron-opt %t.json | xneuron-opt -t bir-json | diff - %t.json
// RUN: xneuron-opt %s -p bir-lower-loops-to-branches -t bir-json | xneuron-opt | filecheck %s --check-prefix=BRANCHES
// RUN: echo 'func.func @f() { func.return }' | not xneuron-opt -t bir-json 2>&1 | filecheck %s --check-prefix=OTHER

bir.func @main {
  %n = bir.register "n"
  %x = bir.memory_location "x" : SB float32 [128, 4]
  bir.register_move %n = 5
  bir.dynamic_for_loop "L" for %i "i" in range(0, 2 * %n + 1, 1) <max_tripcount = 11> {
    bir.memset %x[4 * %i][[4, 1], [1, 4]] <constant = -inf>
  }
  bir.return {bir.json = "{\22debug\22: 7}"}
}

// CHECK:      {
// CHECK-NEXT:   "arch": "gen3",
// CHECK-NEXT:   "attributes": {
// CHECK-NEXT:     "neuron_core_id": 0
// CHECK-NEXT:   },
// CHECK-NEXT:   "functions": [
// CHECK:              "dtype": "int32",
// CHECK-NEXT:         "kind": "imm_value",
// CHECK-NEXT:         "value": 5
// CHECK:              "name": "I-1",
// CHECK-NEXT:         "opcode": "RegisterMove",
// CHECK:              "DynamicForLoopAxis": {
// CHECK-NEXT:           "lb": {
// CHECK-NEXT:             "c": 0,
// CHECK-NEXT:             "kind": "AffExprKind",
// CHECK-NEXT:             "terms": []
// CHECK-NEXT:           },
// CHECK-NEXT:           "name": "i",
// CHECK:                "ub": {
// CHECK-NEXT:             "c": 1,
// CHECK-NEXT:             "kind": "AffExprKind",
// CHECK-NEXT:             "terms": [
// CHECK-NEXT:               {
// CHECK-NEXT:                 "coeff": 2,
// CHECK-NEXT:                 "idx": {
// CHECK-NEXT:                   "kind": "IntRuntimeValueKind",
// CHECK-NEXT:                   "regref": "n"
// CHECK:              "constant": "-inf",
// CHECK:                  "addrs": [
// CHECK:                          "idx": {
// CHECK-NEXT:                       "axis": "i",
// CHECK-NEXT:                       "kind": "AffIVKind"
// CHECK:                  "kind": "symbolic_ap",
// CHECK:              "max_tripcount": 11,
// CHECK:              "debug": 7,
// CHECK:        "version": 2

// BRANCHES:     bir.compare_and_branch {{.*}}
// BRANCHES-NOT: dynamic_for_loop

// OTHER: error: expected a module of bir.func only, found func.func
