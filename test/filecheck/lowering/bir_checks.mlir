// RUN: xneuron-opt %s -p bir-validate-cfg,bir-check-registers --split-input-file --remarks 2>&1 | filecheck %s
// RUN: xneuron-opt %examples/bir/ldpc.mlir -p bir-validate-cfg,bir-lower-loops-to-branches,bir-validate-cfg --remarks 2>&1 | filecheck %s --check-prefix=BRANCHES
// RUN: not xneuron-opt %s -p 'bir-check-registers{limit=3}' 2>&1 | filecheck %s --check-prefix=LIMIT

// CHECK: remark[analysis/topology-valid]: bir-validate-cfg: bir.func: the block lists of @main follow the rules (block_lists=2, blocks=4, back_edges=0)
// CHECK-NEXT: remark[analysis/register-pressure]: bir-check-registers: bir.func: @main needs 4 of 62 registers of Pool, at bir.register_move: i (counter), i (limit), n, p (engines=Pool, live=4, limit=62)
// CHECK-NEXT: remark[analysis/register-pressure]: bir-check-registers: bir.func: @main needs 3 of 62 registers of Activation, PE, DVE, SP, at {{.*}}: i (counter), i (limit), n (
// CHECK: bir.func @main

// BRANCHES: topology-valid{{.*}}(block_lists=2, blocks=4, back_edges=0)
// BRANCHES: topology-valid{{.*}}(block_lists=1, blocks=5, back_edges=1)

// LIMIT: cannot allocate registers of engine Pool in @main: expected at most 3 live at once but got 4 at bir.register_move: i (counter), i (limit), n, p

bir.func @main {
  %n = bir.register "n"
  %p = bir.register "p" <engine = Pool>
  bir.dynamic_for_loop for %i "i" in range(0, %n, 1) {
    bir.compare_and_branch IS_EQIMM(%n, 3) ^leave, ^stay
  ^leave:
    bir.break
  ^stay:
    bir.register_move %p = 1
    bir.continue
  }
  bir.return
}
