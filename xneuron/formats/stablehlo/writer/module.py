"""A module: functions, the attributes of the module, which rule writes which instruction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeAlias, cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.traits import is_side_effect_free
from xdsl.utils.exceptions import VerifyException

from xneuron.dialects.hlo.attributes import int_of, text_of
from xneuron.dialects.hlo.control_flow import ControlDependencyOp
from xneuron.dialects.hlo.functions import entry_of
from xneuron.formats.hlo_text.names import Uniquifier
from xneuron.formats.stablehlo.writer.aliases import aliases, donors
from xneuron.formats.stablehlo.writer.common import SHARDING, common, foreign, of_parameter, shardings_of
from xneuron.formats.stablehlo.writer.emitter import Emitter, Inexpressible, Leaf, Tree
from xneuron.formats.stablehlo.writer.locations import UNKNOWN, Locations
from xneuron.formats.stablehlo.writer.text import dictionary, leaf_types, quoted, type_text

Rule: TypeAlias = "Callable[[Writer, Any], Tree]"
ENTRY = "main"
PER_RESULT = ("jax.result_info", "xneuron.out_sharding")
"""Attributes of the entry function with a string for each result: what JAX calls it, which part a device has of it."""
_NOTHING = DictionaryAttr({})


def print_stablehlo(module: ModuleOp, native_markers: bool = False) -> str:
    """The module as StableHLO, in MLIR's generic form with locations. Raises VerifyException for what it cannot say.

    As XLA translates it (xla/hlo/translate/hlo_to_mhlo), but without tuples, and in StableHLO or CHLO where XLA leaves
    `mhlo` ops. `native_markers`: boundary markers stay custom calls, which Neuron's compiler knows and no other back
    end runs.
    """
    return write(module, native_markers)[0]


def write(module: ModuleOp, native_markers: bool = False) -> tuple[str, bool]:
    """The text, and whether any instruction says where it comes from."""
    writer = Writer(module, native_markers)
    try:
        return writer.module(), writer.locations.any_source
    except RecursionError:
        raise VerifyException("expected less nesting of loops and computations") from None


@cache
def rules() -> dict[type[Operation], Rule]:
    """The rule of each op that has one, from all chapters."""
    from xneuron.formats.stablehlo.writer import (
        collectives,
        contractions,
        control_flow,
        custom,
        data_movement,
        elementwise,
        reductions,
        transfers,
    )

    chapters = (
        elementwise,
        data_movement,
        contractions,
        reductions,
        control_flow,
        collectives,
        transfers,
        custom,
    )
    return {op: rule for chapter in chapters for op, rule in chapter.RULES.items()}


class Writer(Emitter):
    """Writes one module."""

    def __init__(self, module: ModuleOp, native_markers: bool = False) -> None:
        super().__init__(Locations(module))
        self.native_markers = native_markers
        self.source = module
        self.entry = _checked_entry(module)
        self.names = Uniquifier()
        self.functions = {self.entry.sym_name.data: self.names.take(ENTRY)}
        for op in module.ops:
            name = cast(FuncOp, op).sym_name.data
            if op is not self.entry:
                self.functions[name] = self.names.take(name)
        self._outlined: list[tuple[str, Region]] = []
        self._identities: dict[tuple[str, ...], str] = {}
        self._rules = rules()

    @property
    def replicas(self) -> int:
        """Replicas of the module."""
        return int_of(self.source.attributes.get("hlo.replica_count"), 1)

    @property
    def partitions(self) -> int:
        """Partitions of each replica."""
        return int_of(self.source.attributes.get("hlo.num_partitions"), 1)

    def module(self) -> str:
        """The whole text."""
        self._main()
        for op in self.source.ops:
            if op is not self.entry:
                self._private(cast(FuncOp, op))
        # Writing one may add others at the end.
        for name, region in self._outlined:
            self._function(name, region.block, {"sym_visibility": quoted("private")}, {})
        name, frontend = self.source.sym_name, self.source.attributes.get("hlo.frontend_attributes")
        properties = f" <{{sym_name = {quoted(name.data)}}}>" if name and name.data else ""
        header = foreign(self.source.attributes) | common({"frontend_attributes": frontend} if frontend else {})
        header |= {"mhlo.num_partitions": f"{self.partitions} : i32", "mhlo.num_replicas": f"{self.replicas} : i32"}
        head = [*self.locations.aliases, f'"builtin.module"(){properties} ({{']
        return "\n".join([*head, *self.lines, f"}}) {dictionary(header)} : () -> () {UNKNOWN}"]) + "\n"

    def outlined(self, name: str, region: Region) -> str:
        """The name of a private function that the computation of this region becomes."""
        taken = self.names.take(name)
        self._outlined.append((taken, region))
        return taken

    def identity(self, types: Sequence[Attribute]) -> str:
        """The name of a private function that returns what it takes."""
        key = tuple(map(self.type_text, types))
        if key not in self._identities:
            block = Block(arg_types=types)
            block.add_op(ReturnOp(*block.args))
            self._identities[key] = self.outlined("boundary_marker", Region(block))
        return self._identities[key]

    def _main(self) -> None:
        function, block = self.entry, self.entry.body.block
        arguments = [of_parameter(own.data, len(leaf_types(type))) for type, own in _parameters(function)]
        self.of_arguments = {value: own.data for value, (_, own) in zip(block.args, _parameters(function), strict=True)}
        aliases(self.source, function, arguments)
        donors(self.source, function, arguments)
        outputs = _result_attributes(function)
        properties = {"sym_visibility": quoted("public")}
        flat = [dictionary(own) for leaves in arguments for own in leaves]
        if any(text != "{}" for text in flat):
            properties["arg_attrs"] = f"[{', '.join(flat)}]"
        if outputs:
            properties["res_attrs"] = f"[{', '.join(map(dictionary, outputs))}]"
        self._function(ENTRY, block, properties, {})

    def _private(self, function: FuncOp) -> None:
        thread = function.attributes.get("execution_thread")
        attributes = {"execution_thread": quoted(text_of(thread))} if thread is not None else {}
        name = self.functions[function.sym_name.data]
        self._function(name, function.body.block, {"sym_visibility": quoted("private")}, attributes)

    def _function(self, name: str, block: Block, properties: dict[str, str], attributes: dict[str, str]) -> None:
        inputs = [type for argument in block.args for type in leaf_types(argument.type)]
        outputs = [type for value in _returned(block) for type in leaf_types(value.type)]
        signature = f"({', '.join(map(type_text, inputs))}) -> ({', '.join(map(type_text, outputs))})"
        self.location, self.attributes = UNKNOWN, attributes
        known = {"function_type": signature, "sym_name": quoted(name), **properties}
        self.emit("func.func", (), (), known, [self.computation(block.parent_region(), "func.return")])

    def computation(self, region: Region | None, returns: str = "stablehlo.return") -> Callable[[], None]:
        """A region that holds a computation with parameters of its own."""
        assert region is not None
        return self.region(region, lambda block: self.body(block, returns))

    def body(self, block: Block, returns: str = "stablehlo.return") -> None:
        """The instructions of a block whose arguments have values, and its end."""
        waiting = _waiting(block)
        for op in block.ops:
            if op is block.last_op:
                break
            if type(op) is not ControlDependencyOp:
                self._instruction(op, waiting.get(op, ()))
        self.location, self.attributes = UNKNOWN, {}
        self.help(returns, self.leaves(_returned(block)), ())

    def _instruction(self, op: Operation, predecessors: Sequence[SSAValue]) -> None:
        rule = self._rules.get(type(op))
        if rule is None:
            raise Inexpressible(op, "it has no such operation")
        results = op.results
        self.location = self.locations.of(op.attributes, results[0].name_hint if results else None)
        self.attributes = common(op.attributes)
        try:
            tree = self._after(predecessors, op, rule) if predecessors else rule(self, op)
        except Inexpressible:
            raise
        except VerifyException as error:
            raise Inexpressible(op, str(error)) from None
        for result, own in zip(results, (tree,) if len(results) == 1 else cast("tuple[Tree, ...]", tree), strict=True):
            self.trees[result] = own

    def _after(self, predecessors: Sequence[SSAValue], op: Operation, rule: Rule) -> Tree:
        """An instruction that waits for others: its first operand comes out of a barrier that they go into."""
        if not (held := next((value for value in op.operands if self.leaves([value])), None)):
            if not is_side_effect_free(op):
                raise VerifyException("it waits for others, and has no operand that could")
            return rule(self, op)
        if any(value not in self.trees for value in predecessors):
            raise VerifyException("it waits for an instruction behind it")
        before, own = self.trees[held], self.leaves([held])
        together = [*own, *(leaf for value in predecessors for leaf in self.leaves([value])[:1])]
        passed = self.help("stablehlo.optimization_barrier", together, [leaf.type for leaf in together])
        self.trees[held] = self.result(held, passed[: len(own)])
        tree = rule(self, op)
        self.trees[held] = before
        return tree


def single(leaves: Sequence[Leaf]) -> Leaf:
    """The only leaf."""
    (leaf,) = leaves
    return leaf


def _checked_entry(module: ModuleOp) -> FuncOp:
    """The entry computation. Raises VerifyException where there is none, or for ops that are no computations."""
    for op in module.ops:
        if not isinstance(op, FuncOp):
            raise VerifyException(f"expected a module of functions only, found {op.name}")
        if (found := len(op.body.blocks)) != 1:
            raise VerifyException(f"expected one block in the function {op.sym_name.data}, found {found}")
    return entry_of(module)


def _parameters(function: FuncOp) -> list[tuple[Attribute, DictionaryAttr]]:
    types = function.function_type.inputs.data
    own = function.arg_attrs.data if function.arg_attrs else [_NOTHING] * len(types)
    return list(zip(types, own, strict=True))


def _returned(block: Block) -> Sequence[SSAValue]:
    last = block.last_op
    if last is None or last.name not in ("func.return", "hlo.return"):
        raise VerifyException(f"expected a computation that ends in a return, found {last.name if last else 'none'}")
    return last.operands


def _result_attributes(function: FuncOp) -> list[dict[str, str]]:
    """Of each result: its sharding, which is the root's, and what the function says of it."""
    found: list[dict[str, str]] = []
    for value in _returned(function.body.block):
        leaves = len(leaf_types(value.type))
        attributes = value.owner.attributes if isinstance(value.owner, Operation) else {}
        shardings = shardings_of(attributes, leaves)
        found += [{SHARDING: quoted(text)} for text in shardings] or [{} for _ in range(leaves)]
    for key in PER_RESULT:
        said = cast("ArrayAttr[StringAttr] | None", function.attributes.get(key)) or ()
        for own, text in zip(found, said, strict=False):
            own |= {key: quoted(text.data)} if text.data else {}
    return found if any(found) else []


def _waiting(block: Block) -> dict[Operation, list[SSAValue]]:
    """What each instruction waits for, by its control dependencies."""
    found: dict[Operation, list[SSAValue]] = {}
    for op in block.ops:
        if type(op) is ControlDependencyOp and isinstance(op.successor.owner, Operation):
            found.setdefault(op.successor.owner, []).append(op.predecessor)
    return found
