// RUN: xneuron-run %s --register n=3 --profile 2> %t.profile | filecheck %s
// RUN: filecheck %s --check-prefix PROFILE < %t.profile
// RUN: xneuron-run %s --register n=3 -p bir-lower-loops-to-branches | filecheck %s --check-prefix BRANCHES
// RUN: xneuron-run %s --register n=3 --json | filecheck %s --check-prefix JSON
// RUN: xneuron-run %s --register n=3 --trace %t.jsonl && filecheck %s --check-prefix TRACE < %t.jsonl
// RUN: xneuron-run %s --register n=0x3 --check-pipeline bir-lower-loops-to-branches | filecheck %s --check-prefix SAME
// RUN: xneuron-run %s --register n=3 --outputs %t.npz && python -c "import numpy; print(numpy.load('%t.npz')['y'])" | filecheck %s --check-prefix SAVED

// CHECK:      y: s32[1,4] {{\[\[}} 0,  2,  4, -1]]
// CHECK-NEXT: register n = 3
// CHECK-NEXT: register c = 6
// PROFILE: 3  register_alu
// PROFILE: iterations:
// PROFILE-NEXT: 3  i
// BRANCHES:      y: s32[1,4] {{\[\[}} 0,  2,  4, -1]]
// BRANCHES-NEXT: register n = 3
// BRANCHES-NEXT: register c = 6
// BRANCHES-NEXT: register i.limit = 3
// BRANCHES-NEXT: register i = 3
// JSON: {"outputs": {{\[\[}}{"dtype": "s32", "shape": [1, 4], "data": {{\[\[}}0, 2, 4, -1]]}]], "profile": {}, "names": ["y"], "registers": {"n": 3, "c": 6}}
// TRACE:      {"schema": 1, "at": [], "axes": {}, "opcode": "register_move", "name": null, "registers": {"c": 0}, "memories": {}}
// TRACE-NEXT: {"schema": 1, "at": [0], "axes": {"i": 0}, "opcode": "tensor_save"
// TRACE-NEXT: {"schema": 1, "at": [0], "axes": {"i": 0}, "opcode": "register_alu", "name": null, "registers": {"c": 2}, "memories": {}}
// TRACE-NEXT: {"schema": 1, "at": [0], "axes": {"i": 0}, "opcode": "trip", "name": "i", "written": ["y"]}
// SAME: equal: 1 output before and after bir-lower-loops-to-branches
// SAVED: {{\[\[}} 0  2  4 -1]]

bir.func @main {
  %n = bir.register "n"
  %c = bir.register "c"
  %y = bir.memory_location "y" : DRAM int32 [1, 4] <kind = ExternalOutput>
  bir.register_move %c = 0
  bir.dynamic_for_loop for %i "i" in range(0, %n, 1) {
    bir.tensor_save %y[%i][[1, 1]] = %c
    bir.register_alu %c = add(%c, 2)
  }
  bir.return
}
