// RUN: xneuron-opt %s -t dot | filecheck %s
// RUN: xneuron-opt %s -t 'dot{max-lines=0}' | filecheck %s --check-prefix=BRIEF
// RUN: xneuron-opt %s -p bir-lower-loops-to-branches -t dot | filecheck %s --check-prefix=BRANCHED

// CHECK:      digraph "main" {
// CHECK:        f0n0 [label="bb0:\ltensor_load \"ld\" %n = %c\lfor i in range(0, 8, 2)\l"];
// CHECK-NEXT:   f0n6 [label="i.exit:\lreturn\l"];
// CHECK-NEXT:   subgraph cluster_f0c0 {
// CHECK-NEXT:     label="for i in range(0, 8, 2)";
// CHECK-NEXT:     f0n1 [label="i.body:\ldo … while %n\l"];
// CHECK-NEXT:     f0n4 [label="do.exit:\l"];
// CHECK-NEXT:     f0n5 [label="i.latch:\lnext trip\l"];
// CHECK-NEXT:     subgraph cluster_f0c1 {
// CHECK-NEXT:       label="do … while %n";
// CHECK-NEXT:       f0n2 [label="do.body:\lregister_move %n = 0\l"];
// CHECK-NEXT:       f0n3 [label="do.latch:\lnext trip\l"];
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK:        f0n3 -> f0n2 [style=dashed, xlabel="back edge"];
// CHECK:      digraph "second" {
// CHECK-NEXT:   node
// CHECK-NEXT:   f1n0 [label="bb0:\lreturn\l"];

// BRIEF: f0n0 [label="bb0:\l… 2 more\l"];

// BRANCHED: subgraph cluster_f0c0 {
// BRANCHED:   label="loop i.body";
// BRANCHED:   subgraph cluster_f0c1 {
// BRANCHED:     label="loop do.body";
// BRANCHED: f0n2 -> f0n2 [label="true", style=dashed, xlabel="back edge"];

bir.func @main {
  %n = bir.register "n"
  %c = bir.memory_location "c" : DRAM int32 [1, 1]
  bir.tensor_load "ld" %n = %c
  bir.loop for %i "i" in range(0, 8, 2) {
    bir.do_while {
      bir.register_move %n = 0
    } while %n
  }
  bir.return
}

bir.func @second {
  bir.return
}
