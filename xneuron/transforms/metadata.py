"""Metadata of instructions: where in the user's program they come from, and what becomes of it when calls go."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr
from xdsl.ir import Attribute, Operation

from xneuron.dialects.hlo.attributes import int_list, int_of, integer, ints, text_of

LONGEST_OP_NAME = 1024
"""Longer names are left as they are: prefixes of nested calls would grow them without end."""
FRAMES = "hlo.stack_frames"


def op_name(op: Operation) -> str:
    """The op_name, empty where there is none."""
    return text_of(_fields(op).get("op_name"))


def stack_frame(op: Operation) -> int:
    """The number of the op's stack frame in the module's table, 0 where there is none."""
    return int_of(_fields(op).get("stack_frame_id"), 0)


def _fields(op: Operation) -> dict[str, Attribute]:
    metadata = op.attributes.get("metadata")
    return dict(metadata.data) if isinstance(metadata, DictionaryAttr) else {}


class StackFrames:
    """The module's table of stack frames: each has a place and the frame that called it, by numbers from 1."""

    def __init__(self, module: ModuleOp) -> None:
        rows = module.attributes.get(FRAMES)
        table = cast("ArrayAttr[Attribute]", rows).data if isinstance(rows, ArrayAttr) else ()
        self._module = module
        self._frames = [((*int_list(row), 0, 0)[0], (*int_list(row), 0, 0)[1]) for row in table]
        self._numbers = {frame: number for number, frame in enumerate(self._frames, 1)}
        self._stored = len(self._frames)

    def called_from(self, caller: int, frame: int) -> int:
        """The frame with `caller` behind the outermost of its callers, unless that is among them already."""
        chain: list[int] = []
        while 0 < frame <= len(self._frames) and frame not in (caller, *chain):
            chain.append(frame)
            frame = self._frames[frame - 1][1]
        if frame == caller:
            return chain[0] if chain else frame
        for inner in reversed(chain):
            caller = self._number(self._frames[inner - 1][0], caller)
        return caller

    def _number(self, place: int, caller: int) -> int:
        if (number := self._numbers.get((place, caller))) is None:
            self._frames.append((place, caller))
            number = self._numbers[place, caller] = len(self._frames)
        return number

    def store(self) -> None:
        """Writes frames that came into being to the module."""
        if len(self._frames) > self._stored:
            self._module.attributes[FRAMES] = ArrayAttr([ints(frame) for frame in self._frames])


class CalledFrom:
    """Changes metadata of inlined instructions: the call's op_name and stack frame are put in front of their own."""

    def __init__(self, call: Operation, frames: StackFrames) -> None:
        self._prefix = op_name(call)
        self._caller = stack_frame(call)
        self._frames = frames
        self._known: dict[int, tuple[Attribute, Attribute]] = {}  # by identity: a hash would look at all strings

    @property
    def says_nothing(self) -> bool:
        """True for a call without op_name and stack frame."""
        return not self._prefix and not self._caller

    def apply(self, op: Operation) -> None:
        """Does so for one instruction; one without metadata stays without."""
        if not isinstance(metadata := op.attributes.get("metadata"), DictionaryAttr):
            return
        if (known := self._known.get(id(metadata))) is None:
            known = self._known[id(metadata)] = metadata, self._changed(metadata)
        op.attributes["metadata"] = known[1]

    def _changed(self, metadata: DictionaryAttr) -> DictionaryAttr:
        fields = dict(metadata.data)
        name, frame = text_of(fields.get("op_name")), int_of(fields.get("stack_frame_id"), 0)
        if self._prefix and name and len(self._prefix) + 1 + len(name) <= LONGEST_OP_NAME:
            fields["op_name"] = StringAttr(f"{self._prefix}/{name}")
        if self._caller and frame:
            fields["stack_frame_id"] = integer(self._frames.called_from(self._caller, frame))
        return DictionaryAttr(fields)
