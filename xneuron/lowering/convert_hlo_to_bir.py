"""Pass `convert-hlo-to-bir`: from HLO to the register machine."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Attribute, SSAValue
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException, VerifyException

from xneuron.analysis.loop_forms import LoopForms
from xneuron.dialects.bir import functions as bir
from xneuron.dialects.bir.branches import ReturnOp
from xneuron.dialects.bir.enums import TensorKind
from xneuron.dialects.hlo.base import HloOp
from xneuron.dialects.hlo.functions import entry_of
from xneuron.dialects.hlo.types import shape_of
from xneuron.lowering.hlo_to_bir.computations import Lowering
from xneuron.lowering.hlo_to_bir.copies import copy
from xneuron.lowering.hlo_to_bir.empty import is_nothing
from xneuron.lowering.hlo_to_bir.layout import dtype_of, on_chip
from xneuron.lowering.hlo_to_bir.rules import NotLowerable, check, load_rules, type_problem
from xneuron.lowering.hlo_to_bir.values import Buffer, Leaf, Path, Tree, leaf_paths, map_leaves, tree_of
from xneuron.transforms.call_inliner import inline_calls
from xneuron.transforms.tuple_while_operands import TupleWhileOperands

PASS = "convert-hlo-to-bir"


@dataclass(frozen=True)
class ConvertHloToBir(ModulePass):
    """Replaces the program by one `bir.func`, named like the entry.

        %s = hlo.while(%init) cond {…} body {…}   -->   bir.loop for %i in range(0, 10, 1) {…}

    Parameters and results become locations of kind ExternalInput and ExternalOutput, one per array, named
    after the parameter and `out`. Calls are inlined first. See `docs/lowering.md`.

    Refuses, as an error that names the instruction, before anything is changed: what BIR cannot express.
    """

    name = PASS

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        lowered = lower(ctx, op)
        for old in list(op.body.block.ops):
            old.detach()
            old.erase(safe_erase=False)
        for key in [key for key in op.attributes if key.startswith("hlo.")]:
            del op.attributes[key]
        op.body.block.add_op(lowered)


def lower(ctx: Context, module: ModuleOp) -> bir.FuncOp:
    """The entry of a module as a BIR function; the module stays as it is. Raises NotLowerable."""
    load_rules()
    prepared = module.clone()
    TupleWhileOperands().apply(ctx, prepared)
    inline_calls(prepared)
    try:
        entry = entry_of(prepared)
    except VerifyException as error:
        raise PassFailedException(str(error)) from None
    return _function(entry, Lowering(entry, LoopForms(prepared)))


def _function(entry: FuncOp, low: Lowering) -> bir.FuncOp:
    block = entry.body.block
    _check(entry, low)
    inputs = [_locations(low, arg.type, _name(arg), TensorKind.ExternalInput) for arg in block.args]
    assert block.last_op is not None
    outputs = [_locations(low, value.type, "out", TensorKind.ExternalOutput) for value in block.last_op.operands]
    low.hold(tuple(outputs))
    parameters = [
        map_leaves(tree, lambda path, leaf, arg=arg: _loaded(low, arg, path, leaf))
        for arg, tree in zip(block.args, inputs, strict=True)
    ]
    low.block(block, parameters, outputs)
    low.builder.emit(ReturnOp())
    return low.builder.finish()


def _name(argument: SSAValue) -> str:
    return argument.name_hint or "argument"


def _loaded(low: Lowering, argument: SSAValue, path: Path, leaf: Leaf) -> Leaf:
    """A parameter that instructions compute with on chip, brought there once and for all if there is room."""
    if not isinstance(leaf, Buffer) or low.homes.in_dram(argument, path) or on_chip(leaf.count) is None:
        return leaf
    if not any(
        low.demand.op(op) and op.operands[n] in low.demand.operands(op) for op, n in low.homes.readers(argument, path)
    ):
        return leaf
    loaded = low.storage.value(f"{_name(argument)}.loaded", leaf.dtype, leaf.count, in_dram=False)
    if loaded.in_dram:
        return leaf
    copy(low, loaded, leaf)
    return loaded


def _check(entry: FuncOp, low: Lowering) -> None:
    """Raises NotLowerable for the first parameter or needed instruction that BIR cannot express."""
    for argument in entry.body.block.args:
        if reason := type_problem(argument.type):
            raise NotLowerable(entry, reason, f"parameter '{_name(argument)}'")
    for op in entry.body.block.walk():
        if isinstance(op, HloOp | CallOp) and low.demand.op(op):
            check(op)


def _locations(low: Lowering, type: Attribute, wanted: str, kind: TensorKind) -> Tree:
    """A location per array of a parameter or a result; there is none for a token, and for an array without elements."""
    several = len(leaf_paths(type)) > 1

    def location(path: Path, type: Attribute) -> Leaf:
        if is_nothing(type):
            return None
        dtype = dtype_of(type)
        assert dtype is not None
        name = ".".join([wanted, *map(str, path)]) if several else wanted
        return low.storage.external(name, kind, dtype, shape_of(type))

    return tree_of(type, location)
