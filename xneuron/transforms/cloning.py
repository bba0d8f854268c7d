"""Copies of computations that may run beside the original: own names, own channels, own scheduling groups.

Two copies of a collective must not meet on one channel. Each copy gets fresh channel ids, one per id of the original,
so that ops which share an id on purpose (start and done, send and recv) go on sharing; scheduling groups likewise.
Called functions are shared by all copies, unless they hold channels or groups, or loops that wait (`waiting_loops`):
then each copy has its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import count
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, ModuleOp, StringAttr, SymbolRefAttr
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from xneuron.analysis.call_graph import CallGraph, callee_name
from xneuron.analysis.channels import channel_of, next_channel_id
from xneuron.analysis.contents import Contents
from xneuron.analysis.scheduling_groups import ATTRIBUTES, KEY, next_scheduling_group, scheduling_group
from xneuron.dialects.hlo.attributes import ComputationAttr, integer
from xneuron.dialects.hlo.data_movement import CopyOp
from xneuron.dialects.hlo.functions import is_private
from xneuron.fastir import Dictionaries, Template, build
from xneuron.transforms.names import Names
from xneuron.transforms.waiting_loops import is_marked

PRIVATE = StringAttr("private")


class Cloner:
    """Makes copies of computations of one module, with one running counter for channels and one for groups."""

    def __init__(self, module: ModuleOp, calls: CallGraph) -> None:
        self.calls = calls
        self._module = module
        self.channels = count(next_channel_id(module))
        self.left: set[str] = set()
        self._own = Contents(calls, lambda op: _is_numbered(op) or is_marked(op))
        self._templates: dict[str, Template] = {}
        self._names = Names(calls.functions)
        self._types: dict[Template, FunctionType] = {}

    @cached_property
    def groups(self) -> Iterator[int]:
        """Numbers of scheduling groups that no op of the module has."""
        return count(next_scheduling_group(self._module))

    def template(self, block: Block) -> Template:
        """A computation made ready to become a function, many times."""
        return Template(block, self._is_special, terminator=ReturnOp)

    def size(self, template: Template) -> int:
        """Ops that one copy adds to the module, copies of called functions included."""
        templates = [template]
        seen: set[str] = set()
        for each in templates:  # grows while we go
            for op in each.specials:
                if isinstance(op, CallOp) and self.is_copied(op) and (name := callee_name(op)) not in seen:
                    seen.add(name)
                    templates.append(self.function_template(name))
        return sum(each.size for each in templates)

    def function(self, template: Template, name: str, info: DictionaryAttr, before: FuncOp) -> FuncOp:
        """A copy as a private function named `<name>.clone` or `<name>.clone.<n>`, put in front of another one."""
        fresh = self.fresh_name(name)
        return self.copy(before).function(template, fresh, _info_properties(info), _info_attributes(info))

    def copy(self, before: FuncOp) -> Copy:
        """The channels and called functions of one more copy; functions are put in front of `before`."""
        return Copy(self, before)

    def remove_left(self) -> None:
        """Erases functions of which only copies are called now."""
        waiting, graph = list(self.left), CallGraph(self.calls.module)
        while waiting:
            function = graph.functions.get(name := waiting.pop())
            if function is None or graph.callers.get(name) or not is_private(function):
                continue
            for call in (op for op in function.walk() if isinstance(op, CallOp)):
                graph.callers[callee_name(call)].remove(call)
                waiting.append(callee_name(call))
            function.detach()
            function.erase()
            del graph.functions[name]

    def function_type(self, template: Template, copy: Block) -> FunctionType:
        """The type of a function with a copy as its body: made once for all copies."""
        if template not in self._types:
            returned = [value.type for op in (copy.last_op,) if op is not None for value in op.operands]
            self._types[template] = FunctionType.from_lists(copy.arg_types, returned)
        return self._types[template]

    def fresh_name(self, name: str) -> str:
        """A name for a copy that no function has yet."""
        return self._names.fresh(f"{name}.clone")

    def is_copied(self, op: CallOp) -> bool:
        """True for a call of a function of which each copy of the caller needs its own."""
        callee = self.calls.callee(op)
        return callee is not None and self._own.inside(callee.body)

    def _is_special(self, op: Operation) -> bool:
        return _is_numbered(op) or (isinstance(op, CallOp) and self.is_copied(op))

    def function_template(self, name: str) -> Template:
        """A function's body, made ready once."""
        if name not in self._templates:
            self._templates[name] = self.template(self.calls.functions[name].body.block)
        return self._templates[name]

    def copy_function(self, original: str, name: str, copy: Copy) -> None:
        """Makes a copy of a called function that belongs to a copy of its caller."""
        function = self.calls.functions[original]
        self.left.add(original)
        kept = {key: value for key, value in function.properties.items() if key in ("arg_attrs", "res_attrs")}
        copy.function(self.function_template(original), name, kept, dict(function.attributes))


class Copy:
    """One copy: its channel ids, groups and functions, by those of the original."""

    def __init__(self, cloner: Cloner, before: FuncOp) -> None:
        self.cloner = cloner
        self.before = before
        self.channels: dict[int, Attribute] = {}
        self.groups: dict[int, int] = {}
        self.callees: dict[str, Attribute] = {}

    def function(
        self, template: Template, name: str, properties: dict[str, Attribute], attributes: dict[str, Attribute]
    ) -> FuncOp:
        """A copy of a computation as a function of that name."""
        block = template.stamp(self.dictionaries)
        function = build(
            FuncOp,
            (),
            None,
            {
                **properties,
                "sym_name": StringAttr(name),
                "function_type": self.cloner.function_type(template, block),
                "sym_visibility": PRIVATE,
            },
            attributes,
            regions=(Region(block),),
        )
        assert isinstance(function, FuncOp)
        self.cloner.calls.functions[name] = function
        module = self.before.parent
        assert module is not None
        module.insert_op_before(function, self.before)
        return function

    def dictionaries(self, op: Operation) -> Dictionaries:
        """Properties and attributes of the copy of an op that is not copied as it is: what a template asks for."""
        properties, attributes = dict(op.properties), dict(op.attributes)
        if isinstance(op, CallOp) and self.cloner.is_copied(op):
            properties["callee"] = self.callee(callee_name(op))
        if (channel := channel_of(op)) is not None:
            properties["channel_id"] = self.channel(channel)
        if (group := scheduling_group(op)) is not None:
            attributes[ATTRIBUTES] = self.in_group(op, *group)
        return properties, attributes

    def in_group(self, op: Operation, old: int, iteration: str) -> Attribute:
        """An op's frontend attributes with this copy's scheduling group for one of the original."""
        if old not in self.groups:
            self.groups[old] = next(self.cloner.groups)
        said = cast(DictionaryAttr, op.attributes[ATTRIBUTES]).data
        return DictionaryAttr({**said, KEY: StringAttr(f"{self.groups[old]}{iteration}")})

    def channel(self, old: int) -> Attribute:
        """This copy's channel for one of the original."""
        if old not in self.channels:
            self.channels[old] = integer(next(self.cloner.channels))
        return self.channels[old]

    def callee(self, name: str) -> Attribute:
        """This copy's copy of a called function."""
        if name not in self.callees:
            fresh = self.cloner.fresh_name(name)
            self.callees[name] = SymbolRefAttr(fresh)  # known before the copy is made: it may call itself
            self.cloner.copy_function(name, fresh, self)
        return self.callees[name]


def _is_numbered(op: Operation) -> bool:
    """True for an op with a number that no other copy may have."""
    return channel_of(op) is not None or scheduling_group(op) is not None


def call(
    function: FuncOp, operands: Sequence[SSAValue], attributes: dict[str, Attribute], name: str, location: Attribute
) -> Operation:
    """A call of a function with one result. Takes over the dictionary."""
    (type,) = function.function_type.outputs
    return build(CallOp, operands, type, {"callee": SymbolRefAttr(function.sym_name)}, attributes, name, location)


def _info_properties(info: DictionaryAttr) -> dict[str, Attribute]:
    parameters = info.data.get("parameters")
    return {"arg_attrs": parameters} if isinstance(parameters, ArrayAttr) else {}


def _info_attributes(info: DictionaryAttr) -> dict[str, Attribute]:
    return {key: value for key, value in info.data.items() if key != "parameters"}


def computation_info(op: Operation, index: int) -> ComputationAttr | None:
    """What an op says about the computation that is its region number `index`."""
    if (computations := op.properties.get("computations")) is None:
        return None
    return cast("ArrayAttr[ComputationAttr]", computations).data[index]


def computation_name(op: Operation, index: int, otherwise: str) -> str:
    """What the computation that is an op's region number `index` is called."""
    info = computation_info(op, index)
    return info.computation_name.data if info else otherwise


def function_around(op: Operation) -> FuncOp:
    """The function that an op stands in. Raises ValueError if it stands in none."""
    parent = op.parent_op()
    while not isinstance(parent, FuncOp):
        if parent is None:
            raise ValueError(f"expected {op.name} in a function")
        parent = parent.parent_op()
    return parent


def in_layout(value: SSAValue, type: Attribute) -> Operation:
    """A copy of a value into the layout that a loop's state has."""
    return build(CopyOp, [value], type, {}, {})


def annotations_kept(loop: Operation) -> dict[str, Attribute]:
    """What was said of a loop and is as true of what its iterations return."""
    return {key: loop.attributes[key] for key in ("metadata", "sharding") if key in loop.attributes}
