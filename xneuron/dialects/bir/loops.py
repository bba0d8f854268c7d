"""Structured loops: static, dynamic, do-while.

    bir.loop for %i "i" in range(0, 10, 2) { … }
    bir.dynamic_for_loop for %i "i" in range(0, 4 * %n + 1, 1) { … }
    bir.do_while { … } while %r

A body is a list of basic blocks run once per trip. It ends its trip at the end of its only block, or at a
`bir.continue` when it has several; `bir.break` leaves the loop. The induction variable keeps its value
during a trip, whatever the body writes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar, Self, TypeVar

from xdsl.dialects.builtin import IndexType, StringAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import irdl_op_definition, opt_prop_def, prop_def, region_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import NoTerminator, RecursiveMemoryEffect

from .axes import DynamicForLoopAxis, LoopAxis
from .enums import Engine, Opcode
from .expressions import Affine, AffineIV, Expr, Ref, RuntimeValue, constant, leaf_of, leaves
from .functions import parse_body, print_body
from .instruction import Instruction, header, parse_engine, parse_label
from .operands import Decoder, Encoder, ExprAttr, as_expr
from .syntax import Piece, Reader, expr_pieces, index_pieces, print_pieces
from .types import FlagAttr, LongAttr


class BlockList(NoTerminator):
    """A body of one block needs no terminator; one of several blocks may not do without (xDSL checks that)."""

    def verify(self, op: Operation) -> None:
        pass


class StructuredLoop(Instruction, ABC):
    """An instruction that owns blocks and runs them again and again."""

    body = region_def()

    def reads(self) -> set[SSAValue]:
        """The registers that the loop itself reads."""
        return set()


LoopT = TypeVar("LoopT", bound="AxisLoop")


class AxisLoop(StructuredLoop, ABC):
    """A loop over one axis, whose value is the first argument of the body."""

    HEADER: ClassVar[frozenset[str]] = Instruction.HEADER | {"axis_name", "lb", "ub", "stride"}

    axis_name = prop_def(StringAttr)

    @property
    def induction_variable(self) -> SSAValue:
        return self.body.blocks[0].args[0]

    @abstractmethod
    def bounds(self) -> tuple[Expr, Expr, Expr]:
        """Lower bound, upper bound and stride as expressions."""

    def print(self, printer: Printer) -> None:
        self.print_label(printer)
        printer.print_string(" for ")
        printer.print_ssa_value(self.induction_variable)
        printer.print_string(" ")
        printer.print_string_literal(self.axis_name.data)
        printer.print_string(" in range")
        with printer.in_parens():
            printer.print_list(self.bounds(), lambda bound: print_pieces(printer, expr_pieces(bound)))
        self.print_keys(printer)
        self.print_engine(printer)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        print_body(printer, self.body)


def parse_range(parser: Parser) -> tuple[str | None, str, Parser.UnresolvedArgument, list[Expr]]:
    """`"name"? for %i "axis" in range(lb, ub, stride)`."""
    label = parse_label(parser)
    parser.parse_keyword("for")
    argument = parser.parse_argument(expect_type=False)
    axis = parser.parse_str_literal()
    parser.parse_keyword("in")
    parser.parse_keyword("range")
    bounds = parser.parse_comma_separated_list(parser.Delimiter.PAREN, Reader(parser, ssa=True).expr)
    if len(bounds) != 3:
        parser.raise_error(f"expected lower bound, upper bound and stride but got {len(bounds)} bounds")
    return label, axis, argument, bounds


def constant_bound(parser: Parser, expr: Expr) -> int:
    """A bound of a static loop."""
    if not isinstance(expr, Affine) or expr.terms:
        parser.raise_error("expected integer bounds; bounds that are read at run time need bir.dynamic_for_loop")
    return expr.c


def finish_loop(
    cls: type[LoopT],
    parser: Parser,
    argument: Parser.UnresolvedArgument,
    values: list[SSAValue],
    properties: dict[str, Attribute],
    label: str | None,
) -> LoopT:
    """Keys, engine, attributes and body: what comes after the range."""
    keys = cls.parse_keys(parser)
    engine = parse_engine(parser)
    attributes = parser.parse_optional_attr_dict_with_keyword()
    region = parse_body(parser, [argument.resolve(IndexType())])
    return cls.create(
        operands=values,
        properties={**header(engine, label), **properties, **keys},
        attributes=attributes.data if attributes else {},
        regions=[region],
    )


def loop_body(region: Region | None) -> Region:
    """The given body, or an empty one with an induction variable."""
    return Region(Block(arg_types=[IndexType()])) if region is None else region


@irdl_op_definition
class LoopOp(AxisLoop):
    """A loop whose bounds are integers. All three bounds 0: the body runs once (a scheduling unit)."""

    name = "bir.loop"
    OPCODE: ClassVar = Opcode.Loop

    lb = prop_def(LongAttr)
    ub = prop_def(LongAttr)
    stride = prop_def(LongAttr)
    is_parallel = prop_def(FlagAttr, default_value=FlagAttr(False))

    traits = traits_def(BlockList(), RecursiveMemoryEffect())

    def __init__(
        self,
        axis: str,
        lb: int,
        ub: int,
        stride: int = 1,
        body: Region | None = None,
        *,
        engine: Engine = Engine.Unassigned,
        label: str | None = None,
        is_parallel: bool = False,
    ):
        bounds = {"lb": LongAttr(lb), "ub": LongAttr(ub), "stride": LongAttr(stride)}
        own = {"axis_name": StringAttr(axis), "is_parallel": FlagAttr(is_parallel), **bounds}
        super().__init__(operands=[[]], properties={**header(engine, label), **own}, regions=[loop_body(body)])

    @property
    def axis(self) -> LoopAxis:
        return LoopAxis(self.axis_name.data, self.induction_variable, self.lb.data, self.ub.data, self.stride.data)

    @property
    def runs_once(self) -> bool:
        """Whether it is no loop at all: lb, ub and stride are 0, and nothing is bound."""
        return (self.lb.data, self.ub.data, self.stride.data) == (0, 0, 0)

    def verify_(self) -> None:
        from .verifier import verify_loop

        verify_loop(self)

    def bounds(self) -> tuple[Expr, Expr, Expr]:
        return constant(self.lb.data), constant(self.ub.data), constant(self.stride.data)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        label, axis, argument, bounds = parse_range(parser)
        parts = [LongAttr(bound) for bound in (constant_bound(parser, expr) for expr in bounds)]
        named = dict(zip(("lb", "ub", "stride"), parts, strict=True))
        return finish_loop(cls, parser, argument, [], {"axis_name": StringAttr(axis), **named}, label)


@irdl_op_definition
class DynamicForLoopOp(AxisLoop):
    """A loop that runs up to `const + coeff * register`, read once when the loop is entered.

    The bound is exact: 32-bit register value, unbounded arithmetic (reference: 64-bit). Writing the
    register inside the body does not change the number of trips. `max_tripcount` declares a bound on them.
    """

    name = "bir.dynamic_for_loop"
    OPCODE: ClassVar = Opcode.DynamicForLoop

    lb = prop_def(ExprAttr)
    ub = prop_def(ExprAttr)
    stride = prop_def(ExprAttr)
    max_tripcount = opt_prop_def(LongAttr)

    traits = traits_def(BlockList(), RecursiveMemoryEffect())

    def __init__(
        self,
        axis: str,
        lb: Expr | SSAValue | int,
        ub: Expr | SSAValue | int,
        stride: Expr | SSAValue | int = 1,
        body: Region | None = None,
        *,
        engine: Engine = Engine.Unassigned,
        label: str | None = None,
        max_tripcount: int | None = None,
    ):
        encoder = Encoder()
        bounds = {name: encoder.expr(as_expr(b)) for name, b in (("lb", lb), ("ub", ub), ("stride", stride))}
        own = {"axis_name": StringAttr(axis), **bounds, **self.key_attributes({"max_tripcount": max_tripcount})}
        super().__init__(
            operands=[encoder.values], properties={**header(engine, label), **own}, regions=[loop_body(body)]
        )

    @property
    def axis(self) -> DynamicForLoopAxis:
        bounds = (Decoder(self.values).expr(attr) for attr in (self.lb, self.ub, self.stride))
        return DynamicForLoopAxis(
            self.axis_name.data, self.induction_variable, *bounds, max_tripcount=self.key("max_tripcount")
        )

    def reads(self) -> set[SSAValue]:
        found = (leaf.value for bound in self.bounds() for leaf in leaves(bound))
        return {value for value in found if isinstance(value, SSAValue)}

    def verify_(self) -> None:
        from .verifier import verify_dynamic_for_loop

        verify_dynamic_for_loop(self)

    def bounds(self) -> tuple[Expr, Expr, Expr]:
        axis = self.axis
        return axis.lb, axis.ub, axis.stride

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        label, axis, argument, bounds = parse_range(parser)
        encoder = Encoder()
        parts = [encoder.expr(bound) for bound in bounds]
        named = dict(zip(("lb", "ub", "stride"), parts, strict=True))
        return finish_loop(cls, parser, argument, encoder.values, {"axis_name": StringAttr(axis), **named}, label)


def condition_pieces(cond: Expr) -> Iterator[Piece]:
    """`%r` for the value itself, which is what a condition has to be; anything else in parentheses."""
    if isinstance(cond, AffineIV | RuntimeValue) and cond == plain_leaf(cond.value):
        yield from index_pieces(cond)
        return
    yield "("
    yield from expr_pieces(cond)
    yield ")"


def plain_leaf(ref: Ref) -> Expr | None:
    """The leaf that `%v` alone stands for."""
    return leaf_of(ref) if isinstance(ref, SSAValue) else None


def parse_condition(reader: Reader) -> Expr:
    """The inverse of `condition_pieces`."""
    if (value := reader.optional_value()) is not None:
        return leaf_of(value)
    with reader.parser.in_parens():
        return reader.expr()


@irdl_op_definition
class DoWhileOp(StructuredLoop):
    """Runs its body, then again while the register of its condition is not 0: at least once."""

    name = "bir.do_while"
    HEADER: ClassVar[frozenset[str]] = Instruction.HEADER | {"cond"}
    OPCODE: ClassVar = Opcode.DoWhile

    cond = prop_def(ExprAttr)

    # It may never end, so its effects are unknown: nobody may drop or merge it.
    traits = traits_def(BlockList())

    def __init__(
        self,
        cond: Expr | SSAValue,
        body: Region | None = None,
        *,
        engine: Engine = Engine.Unassigned,
        label: str | None = None,
    ):
        encoder = Encoder()
        stored = encoder.expr(leaf_of(cond) if isinstance(cond, SSAValue) else cond)
        super().__init__(
            operands=[encoder.values],
            properties={**header(engine, label), "cond": stored},
            regions=[Region(Block()) if body is None else body],
        )

    @property
    def condition(self) -> Expr:
        return Decoder(self.values).expr(self.cond)

    def reads(self) -> set[SSAValue]:
        return {leaf.value for leaf in leaves(self.condition) if isinstance(leaf.value, SSAValue)}

    def verify_(self) -> None:
        from .verifier import verify_do_while

        verify_do_while(self)

    def print(self, printer: Printer) -> None:
        self.print_label(printer)
        print_body(printer, self.body)
        printer.print_string(" while ")
        print_pieces(printer, condition_pieces(self.condition))
        self.print_engine(printer)
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        label = parse_label(parser)
        region = parse_body(parser)
        parser.parse_keyword("while")
        encoder = Encoder()
        cond = encoder.expr(parse_condition(Reader(parser, ssa=True)))
        engine = parse_engine(parser)
        attributes = parser.parse_optional_attr_dict()
        properties = {**header(engine, label), "cond": cond}
        return cls.create(operands=encoder.values, properties=properties, attributes=attributes, regions=[region])
