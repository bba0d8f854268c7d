"""Packing a loop's operands does not change what it computes."""

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin
from xdsl.dialects.func import Func
from xdsl.parser import Parser

from xneuron.dialects.hlo import HLO
from xneuron.interpreters.evaluator import Program
from xneuron.transforms.tuple_while_operands import tuple_while_operands

FIBONACCI = """
!i = tensor<i32>
func.func @main(%n: !i) -> !i {
  %zero = hlo.constant() {value = #hlo.literal<"0" : tensor<i32>>} : () -> !i
  %one = hlo.constant() {value = #hlo.literal<"1" : tensor<i32>>} : () -> !i
  %k, %a, %b, %m = hlo.while(%zero, %zero, %one, %n) cond {
  ^bb0(%k0: !i, %a0: !i, %b0: !i, %m0: !i):
    %c = hlo.compare(%k0, %m0) {direction = "LT"} : (!i, !i) -> tensor<i1>
    hlo.return(%c) : (tensor<i1>) -> ()
  } body {
  ^bb0(%k1: !i, %a1: !i, %b1: !i, %m1: !i):
    %step = hlo.constant() {value = #hlo.literal<"1" : tensor<i32>>} : () -> !i
    %k2 = hlo.add(%k1, %step) : (!i, !i) -> !i
    %sum = hlo.add(%a1, %b1) : (!i, !i) -> !i
    hlo.return(%k2, %b1, %sum, %m1) : (!i, !i, !i, !i) -> ()
  } : (!i, !i, !i, !i) -> (!i, !i, !i, !i)
  func.return %a : !i
}
"""


def test_fibonacci():
    context = Context()
    for dialect in (Builtin, Func, HLO):
        context.load_dialect(dialect)
    module = Parser(context, FIBONACCI).parse_module()
    expected = [0, 1, 1, 2, 3, 5, 8, 13, 21, 34]
    assert [int(Program(module).run(np.int32(n))[0]) for n in range(10)] == expected
    assert tuple_while_operands(module)
    module.verify()
    assert [int(Program(module).run(np.int32(n))[0]) for n in range(10)] == expected
    assert not tuple_while_operands(module)
