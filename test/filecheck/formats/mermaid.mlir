// RUN: xneuron-opt %s -t mermaid | filecheck %s

// CHECK:      flowchart TD
// CHECK-NEXT:   subgraph f0["@main"]
// CHECK-NEXT:     f0n0["bb0:<br/>for i in range(0, %n, 1)"]
// CHECK-NEXT:     f0n3["i.exit:<br/>return"]
// CHECK-NEXT:     subgraph f0c0["for i in range(0, %n, 1)"]
// CHECK-NEXT:       f0n1["i.body:<br/>tensor_scalar #quot;inc#quot; %x = %x #lt;op0 = add, const0 = 1#gt;"]
// CHECK-NEXT:       f0n2["i.latch:<br/>next trip"]
// CHECK-NEXT:     end
// CHECK-NEXT:   end
// CHECK-NEXT:   f0n0 --> f0n1
// CHECK-NEXT:   f0n0 --> f0n3
// CHECK-NEXT:   f0n1 --> f0n2
// CHECK-NEXT:   f0n2 --> f0n3
// CHECK-NEXT:   f0n2 -.->|back edge| f0n1

bir.func @main {
  %n = bir.register "n"
  %x = bir.memory_location "x" : SB float32 [128, 4]
  bir.dynamic_for_loop for %i "i" in range(0, %n, 1) {
    bir.tensor_scalar "inc" %x = %x <op0 = add, const0 = 1>
  }
  bir.return
}
