"""Instructions per second of each canonicaliser and of the inliner, and their growth: 10,000 to 100,000 instructions.

The program: a chain of calls of functions of 1,000 instructions each, that pass a tuple on.
"""

from collections.abc import Callable
from time import process_time

from xdsl.dialects.builtin import DictionaryAttr, ModuleOp, StringAttr
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from xneuron.dialects.hlo.attributes import integer
from xneuron.dialects.hlo.control_flow import GetTupleElementOp, TupleOp
from xneuron.dialects.hlo.data_movement import ConstantOp
from xneuron.dialects.hlo.elementwise import AddOp, MultiplyOp
from xneuron.dialects.hlo.literal import LiteralAttr
from xneuron.dialects.hlo.types import BY_NAME, tensor, tuple_of
from xneuron.fastir import append, build, collector_off
from xneuron.transforms.call_inliner import inline_calls
from xneuron.transforms.canonicalize_loops import canonicalize
from xneuron.transforms.hlo_cse import merge_equal_instructions
from xneuron.transforms.hlo_dce import eliminate_dead_code
from xneuron.transforms.tuple_simplifier import simplify_tuples
from xneuron.transforms.while_loop_constant_sinking import sink_constants

F32 = tensor(BY_NAME["f32"].type)
STATE = tuple_of((F32, F32))
METADATA = DictionaryAttr({"op_name": StringAttr("layer/op")})
SIZES = (10_000, 100_000)
BODY = 1_000

STEPS: dict[str, Callable[[ModuleOp], object]] = {
    "call-inliner": inline_calls,
    "tuple-simplifier": simplify_tuples,
    "hlo-cse": merge_equal_instructions,
    "while-loop-constant-sinking": sink_constants,
    "hlo-dce": eliminate_dead_code,
    "canonicalize": canonicalize,
}


def function(name: str) -> FuncOp:
    block = Block(arg_types=[STATE])

    def add(
        cls: type[Operation], operands: list[SSAValue], type: Attribute, properties: dict[str, Attribute]
    ) -> SSAValue:
        append(block, op := build(cls, operands, type, properties, {"metadata": METADATA}))
        return op.results[0]

    x = add(GetTupleElementOp, [block.args[0]], F32, {"index": integer(0)})
    y = add(GetTupleElementOp, [block.args[0]], F32, {"index": integer(1)})
    c = add(ConstantOp, [], F32, {"value": LiteralAttr.of(F32, 1.5)})
    for _ in range(BODY // 2 - 3):
        x = add(AddOp, [x, y], F32, {})
        y = add(MultiplyOp, [y, c], F32, {})
    append(block, ReturnOp(add(TupleOp, [x, y], STATE, {})))
    return FuncOp(name, ((STATE,), (STATE,)), Region(block), visibility="private")


def program(size: int) -> ModuleOp:
    functions = [function(f"f{number}") for number in range(size // BODY)]
    main = Block(arg_types=[STATE])
    state: SSAValue = main.args[0]
    for callee in functions:
        main.add_op(call := CallOp(callee.sym_name.data, [state], [STATE]))
        state = call.results[0]
    main.add_op(ReturnOp(state))
    return ModuleOp([FuncOp("main", ((STATE,), (STATE,)), Region(main)), *functions])


def main() -> None:
    rates: dict[str, list[float]] = {name: [] for name in STEPS}
    with collector_off():
        for size in SIZES:
            module = program(size)
            for name, step in STEPS.items():
                start = process_time()
                step(module)
                rates[name].append(size / (process_time() - start))
    print("instructions/s" + "".join(f"{size:>16,}" for size in SIZES) + "     growth of the cost per instruction")
    for name, (small, large) in rates.items():
        print(f"{name:<28}{small:>12,.0f}{large:>16,.0f}{small / large:>12.2f}")


if __name__ == "__main__":
    main()
