"""Where an instruction comes from, as MLIR's `loc`: its name over the user's line in Python, or over JAX's frames."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp
from xdsl.ir import Attribute

from xneuron.dialects.hlo.attributes import int_list, int_of, text_of
from xneuron.formats.stablehlo.writer.text import quoted

UNKNOWN = "loc(unknown)"


class Locations:
    """Texts of locations. `aliases` are the lines that those of frames need in front of the module.

    The name is what JAX says in `op_name`, else the instruction's: what XLA shows of it, in both directions.
    """

    def __init__(self, module: ModuleOp) -> None:
        self._files = _table(module, "hlo.file_names")
        self._functions = _table(module, "hlo.function_names")
        self._places = _table(module, "hlo.file_locations")
        self._frames = _table(module, "hlo.stack_frames")
        self._known: dict[Attribute, tuple[str, str]] = {}
        self._aliases: dict[int, str] = {}
        self.aliases: list[str] = []
        self.any_source = False
        """True once an instruction said more than its name."""

    def of(self, attributes: Mapping[str, Attribute], name: str | None) -> str:
        """`loc("jit(f)/add"("f.py":3:4))`."""
        title, source = "", ""
        if (metadata := attributes.get("metadata")) is not None:
            self.any_source = True
            title, source = self._known.get(metadata) or self._read(metadata)
        title = title or name or ""
        if not title:
            return f"loc({source})" if source else UNKNOWN
        return f"loc({quoted(title)}({source}))" if source else f"loc({quoted(title)})"

    def _read(self, metadata: Attribute) -> tuple[str, str]:
        fields = cast(DictionaryAttr, metadata).data
        frame = int_of(fields.get("stack_frame_id"))
        source = self._frame(frame) if 0 < frame <= len(self._frames) else _source(fields)
        found = self._known[metadata] = text_of(fields.get("op_name")), source
        return found

    def _frame(self, frame: int) -> str:
        """The alias of a frame with all its callers; the outermost ones first, so that aliases stand before uses."""
        chain: list[int] = []
        while 0 < frame <= len(self._frames) and frame not in self._aliases and frame not in chain:
            chain.append(frame)
            frame = int_list(self._frames[frame - 1])[1]
        for inner in reversed(chain):
            place, parent = int_list(self._frames[inner - 1])
            own = self._place(place)
            outer = self._aliases.get(parent)
            alias = self._aliases[inner] = f"#frame{inner}"
            self.aliases.append(f"{alias} = loc({f'callsite({own} at {outer})' if outer else own})")
        return self._aliases[chain[0] if chain else frame]

    def _place(self, number: int) -> str:
        if not 0 < number <= len(self._places):
            return "unknown"
        file, function, line, end_line, column, end_column = int_list(self._places[number - 1])
        place = _range(_entry(self._files, file), line, column, end_line, end_column)
        name = _entry(self._functions, function)
        return f"{quoted(name)}({place})" if name else place


def _table(module: ModuleOp, name: str) -> tuple[Attribute, ...]:
    rows = module.attributes.get(name)
    return cast("ArrayAttr[Attribute]", rows).data if rows is not None else ()


def _entry(table: tuple[Attribute, ...], number: int) -> str:
    return text_of(table[number - 1]) if 0 < number <= len(table) else ""


def _source(fields: Mapping[str, Attribute]) -> str:
    file = text_of(fields.get("source_file"))
    names = ("source_line", "source_column", "source_end_line", "source_end_column")
    return _range(file, *(int_of(fields.get(name)) for name in names)) if file else ""


def _range(file: str, line: int, column: int, end_line: int, end_column: int) -> str:
    end = f" to {max(line, end_line)}:{end_column}" if end_column or end_line > line else ""
    return f"{quoted(file)}:{line}:{column}{end}"
