"""What a function owns besides code: registers and memory locations, as handles.

%n = bir.register "n"
%x = bir.memory_location "x" : SB float32 [128, 4] <kind = ExternalInput>
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import ClassVar, Self

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, Operation
from xdsl.irdl import irdl_op_definition, opt_prop_def, prop_def, result_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import EffectInstance, MemoryEffect, MemoryEffectKind

from .enums import (
    AddrSpace,
    AddrSpaceAttr,
    DType,
    Engine,
    EngineAttr,
    MemorySpace,
    TensorClass,
    TensorClassAttr,
    TensorKind,
    TensorKindAttr,
)
from .keyed import KeyedOp
from .types import FlagAttr, Geometry, LongAttr, MemoryType, RegisterType, parse_geometry, print_geometry

MAX_REGISTERS_PER_ENGINE = 62
"""Registers the compiler hands out per engine; the hardware has 64, two are taken as reserved (reference b)."""


class StorageEffects(MemoryEffect):
    """A handle is a fresh thing each time; one the outside world sees is never dropped."""

    @classmethod
    def get_effects(cls, op: Operation) -> AbstractSet[EffectInstance] | None:
        if isinstance(op, MemoryLocationOp) and op.is_external:
            return None
        return {EffectInstance(MemoryEffectKind.ALLOC, op.results[0])}


@irdl_op_definition
class RegisterOp(KeyedOp):
    """A register of the function: 32 bits, or a lo/hi pair when `num_physical_regs` is 2.

    It holds 0xFFFFFFFF until written. `engine` is the one that owns it; ALL is one copy per engine.
    """

    name = "bir.register"
    HEADER: ClassVar[frozenset[str]] = frozenset({"storage_name"})

    storage_name = prop_def(StringAttr)
    engine = prop_def(EngineAttr, default_value=EngineAttr(Engine.ALL))
    num_physical_regs = prop_def(LongAttr, default_value=LongAttr(1))
    physical_id = opt_prop_def(LongAttr)
    result = result_def(RegisterType)

    traits = traits_def(StorageEffects())

    def __init__(
        self,
        name: str,
        *,
        engine: Engine = Engine.ALL,
        num_physical_regs: int = 1,
        physical_id: int | None = None,
    ):
        keys = dict(engine=engine, num_physical_regs=num_physical_regs, physical_id=physical_id)
        properties = {"storage_name": StringAttr(name), **self.key_attributes(keys)}
        super().__init__(properties=properties, result_types=[RegisterType()])
        self.result.name_hint = hint(name)

    @property
    def label(self) -> str:
        return self.storage_name.data

    def verify_(self) -> None:
        from .verifier import verify_register

        verify_register(self)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.label)
        self.print_keys(printer)
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        properties: dict[str, Attribute] = {"storage_name": StringAttr(parser.parse_str_literal())}
        properties |= cls.parse_keys(parser)
        attributes = parser.parse_optional_attr_dict()
        return cls.create(result_types=[RegisterType()], properties=properties, attributes=attributes)


@irdl_op_definition
class MemoryLocationOp(KeyedOp):
    """A memory location; on chip, dimension 0 of its shape is the partition.

    `set` names the memory location set it belongs to (by default the location's name and `_set`); the keys
    from `kind` to `file` describe the set and are equal on all locations of one set. `addr` is a byte
    offset within the partition, `base` the first partition; without `allocated` both mean nothing yet.
    `data` (ours, for kind Const): what it holds when the program starts, as hexadecimal digits of its bytes, row-major
    and little-endian. A Const without it is filled by the caller.
    """

    name = "bir.memory_location"
    HEADER: ClassVar[frozenset[str]] = frozenset({"storage_name"})

    storage_name = prop_def(StringAttr)
    set = opt_prop_def(StringAttr)
    kind = prop_def(TensorKindAttr, default_value=TensorKindAttr(TensorKind.Internal))
    tensor_class = prop_def(TensorClassAttr, default_value=TensorClassAttr(TensorClass.Tensor))
    addr_space = prop_def(AddrSpaceAttr, default_value=AddrSpaceAttr(AddrSpace.Local))
    partition_dim = prop_def(LongAttr, default_value=LongAttr(0))
    no_spill = prop_def(FlagAttr, default_value=FlagAttr(False))
    volatile = prop_def(FlagAttr, default_value=FlagAttr(False))
    virtual = prop_def(FlagAttr, default_value=FlagAttr(False))
    file = opt_prop_def(StringAttr)
    addr = prop_def(LongAttr, default_value=LongAttr(0))
    bank = prop_def(LongAttr, default_value=LongAttr(0))
    base = prop_def(LongAttr, default_value=LongAttr(0))
    allocated = prop_def(FlagAttr, default_value=FlagAttr(False))
    pinned = prop_def(FlagAttr, default_value=FlagAttr(False))
    tensor_id = prop_def(LongAttr, default_value=LongAttr(0))
    data = opt_prop_def(StringAttr)
    result = result_def(MemoryType)

    traits = traits_def(StorageEffects())

    SET_KEYS: ClassVar = (
        "kind",
        "tensor_class",
        "addr_space",
        "partition_dim",
        "no_spill",
        "volatile",
        "virtual",
        "file",
    )

    def __init__(self, name: str, space: MemorySpace, dtype: DType, shape: Sequence[int], **keys: object):
        properties = {"storage_name": StringAttr(name), **self.key_attributes(keys)}
        super().__init__(properties=properties, result_types=[MemoryType(Geometry(space, dtype, tuple(shape)))])
        self.result.name_hint = hint(name)

    @property
    def label(self) -> str:
        return self.storage_name.data

    @property
    def set_name(self) -> str:
        return self.set.data if self.set else f"{self.label}_set"

    @property
    def geometry(self) -> Geometry:
        assert isinstance(self.result.type, MemoryType)
        return self.result.type.data

    @property
    def is_external(self) -> bool:
        """Whether the program's caller writes or reads it."""
        return self.kind.data.value.startswith(("External", "Input", "Output"))

    @property
    def is_input(self) -> bool:
        return self.kind.data in (TensorKind.ExternalInput, TensorKind.ExternalInputParameter, TensorKind.Input)

    @property
    def is_output(self) -> bool:
        return self.is_external and not self.is_input

    def verify_(self) -> None:
        from .verifier import verify_memory_location

        verify_memory_location(self)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.label)
        printer.print_string(" : ")
        print_geometry(printer, self.geometry)
        self.print_keys(printer)
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        properties: dict[str, Attribute] = {"storage_name": StringAttr(parser.parse_str_literal())}
        parser.parse_punctuation(":")
        geometry = parse_geometry(parser)
        properties |= cls.parse_keys(parser)
        attributes = parser.parse_optional_attr_dict()
        types = [MemoryType(geometry)]
        return cls.create(result_types=types, properties=properties, attributes=attributes)


def hint(name: str) -> str:
    """An SSA name like the storage's name."""
    cleaned = "".join(char if (char.isalnum() and char.isascii()) or char in "_$.-" else "_" for char in name)
    return cleaned if cleaned[:1].isalpha() or cleaned[:1] == "_" else f"_{cleaned}"
