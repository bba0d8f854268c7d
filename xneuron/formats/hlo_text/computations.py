"""Computations while a text is read: built once, handed to the first op that owns them, copied for the others."""

from __future__ import annotations

from bisect import bisect
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.dialects.func import ReturnOp as FuncReturnOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue

from xneuron.dialects.hlo.attributes import ComputationAttr
from xneuron.dialects.hlo.control_flow import ReturnOp
from xneuron.fastir import Template, append, build, rename

NO_ATTRIBUTES = DictionaryAttr({})


@dataclass(eq=False)
class Computation:
    """A computation, complete once `root` is set.

    `size` counts its instructions with those of the computations it owns. One that is `called` needs a function.
    """

    name: str
    block: Block = field(default_factory=Block)
    values: dict[str, SSAValue] = field(default_factory=dict[str, SSAValue])
    root: SSAValue | None = None
    numbers: list[int] = field(default_factory=list[int])
    parameters: dict[int, DictionaryAttr] = field(default_factory=dict[int, DictionaryAttr])
    thread: str = ""
    size: int = 0
    called: bool = False
    used: bool = False
    scratch: bool = False
    info: ComputationAttr | None = None
    template: Template | None = None

    def add_parameter(self, number: int, type: Attribute, name: str | None) -> BlockArgument | None:
        """The block argument for a parameter number, None if the number is taken."""
        if number in self.parameters:
            return None
        at = bisect(self.numbers, number)
        self.numbers.insert(at, number)
        self.parameters[number] = NO_ATTRIBUTES
        argument = self.block.insert_arg(type, at)
        rename(argument, name)
        return argument

    @property
    def type(self) -> Attribute:
        """The type of the root."""
        assert self.root is not None
        return self.root.type

    @property
    def root_name(self) -> str:
        """The root's name, for messages."""
        return (self.root and self.root.name_hint) or "_"

    @property
    def attribute(self) -> ComputationAttr:
        """Name, execution thread and attributes of parameters, as the op that owns the region keeps them."""
        if self.info is None:
            self.info = ComputationAttr(StringAttr(self.name), DictionaryAttr(self._info()))
        return self.info

    def _info(self) -> dict[str, Attribute]:
        info: dict[str, Attribute] = {}
        if self.thread:
            info["execution_thread"] = StringAttr(self.thread)
        if any(attributes.data for attributes in self.parameters.values()):
            info["parameters"] = ArrayAttr(self.argument_attributes)
        return info

    @property
    def argument_attributes(self) -> list[DictionaryAttr]:
        """Attributes of the parameters, in order."""
        return [self.parameters[number] for number in self.numbers]

    def region(self) -> Region:
        """A region with the computation: the original for the first who asks, copies for the others."""
        if not self.used:
            return Region(self._finished(ReturnOp))
        if self.template is None:
            self.template = Template(self.block)
        return Region(self.template.stamp())

    def _finished(self, terminator: type[Operation]) -> Block:
        assert self.root is not None
        self.used = True
        append(self.block, build(terminator, (self.root,), None, {}, {}))
        return self.block

    def _body(self) -> Region:
        if not self.used:
            return Region(self._finished(FuncReturnOp))
        return Region(Template(self.block, terminator=FuncReturnOp).stamp())

    def function(self, is_entry: bool) -> FuncOp:
        """The computation as a function, the entry public and all others private."""
        region = self._body()
        assert self.root is not None
        types = FunctionType.from_lists([argument.type for argument in self.block.args], [self.root.type])
        attributes = ArrayAttr(self.argument_attributes) if self._info().get("parameters") else None
        function = FuncOp(self.name, types, region, None if is_entry else "private", arg_attrs=attributes)
        if self.thread:
            function.attributes["execution_thread"] = StringAttr(self.thread)
        return function
