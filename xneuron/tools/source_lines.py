"""The line of the user's program that an instruction comes from, as its metadata or the module's frame tables say."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp
from xdsl.ir import Attribute, Operation

from xneuron.dialects.hlo.attributes import int_list, int_of, text_of


class SourceLines:
    """Lines of one module's instructions. A frame id stands for JAX's stack; the innermost frame is the line."""

    def __init__(self, module: ModuleOp) -> None:
        self._files = _table(module, "hlo.file_names")
        self._places = _table(module, "hlo.file_locations")
        self._frames = _table(module, "hlo.stack_frames")

    def of(self, op: Operation) -> str:
        """`model.py:33`, empty where nothing is said."""
        fields = _fields(op)
        if file := text_of(fields.get("source_file")):
            return f"{file}:{int_of(fields.get('source_line'))}"
        frame = _row(self._frames, int_of(fields.get("stack_frame_id")))
        place = _row(self._places, int_list(frame)[0]) if frame is not None else None
        if place is None:
            return ""
        file, _, line, *_ = int_list(place)
        return f"{text_of(_row(self._files, file))}:{line}"


def op_name_of(op: Operation) -> str:
    """JAX's name of the instruction (`jit(f)/while`), empty where it has none."""
    return text_of(_fields(op).get("op_name"))


def _fields(op: Operation) -> dict[str, Attribute]:
    metadata = op.attributes.get("metadata")
    return dict(metadata.data) if isinstance(metadata, DictionaryAttr) else {}


def _table(module: ModuleOp, name: str) -> tuple[Attribute, ...]:
    rows = module.attributes.get(name)
    return cast("ArrayAttr[Attribute]", rows).data if isinstance(rows, ArrayAttr) else ()


def _row(table: tuple[Attribute, ...], number: int) -> Attribute | None:
    """Row `number`, counted from 1; None where there is none."""
    return table[number - 1] if 0 < number <= len(table) else None
