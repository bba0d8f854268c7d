"""JAX's MLIR: contexts, reading modules, printing them. This and `decode.py` alone import jaxlib's bindings.

Imported in the process of `worker.py`, and by `xneuron.from_jax`, which runs where jaxlib is loaded anyway.
"""

# The bindings' stubs leave most things unknown.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportAttributeAccessIssue=false
from __future__ import annotations

import re

from jaxlib.mlir import ir, passmanager
from jaxlib.mlir._mlir_libs import _jax_mlir_ext
from jaxlib.mlir.dialects import chlo, mhlo, sdy, stablehlo

from xneuron.formats.stablehlo.tree import BYTECODE, Diagnostic, Place

TEXT = "-"
"""What MLIR calls the file of a text that came from memory."""
PLACED = "xneuron.placed"
"""Metadata of a fused location: first where it stands in the text, then what the text says it comes from."""
_PORTABLE = b"StableHLO_v"

_passes_registered = False


class Unreadable(Exception):
    """Bytes that are neither text nor a module."""


def context() -> ir.Context:
    """A context that knows all dialects that JAX prints."""
    made = ir.Context()
    registry = ir.DialectRegistry()
    _jax_mlir_ext.register_dialects(registry)
    made.append_dialect_registry(registry)
    for register in (
        stablehlo.register_dialect,
        chlo.register_dialect,
        mhlo.register_mhlo_dialect,
        sdy.register_dialect,
    ):
        register(made)
    made.load_all_available_dialects()
    return made


def read(content: bytes, ctx: ir.Context) -> ir.Module:
    """The verified module of a text in any form, of bytecode, or of a portable artifact (`jax.export`).

    Each operation of a text knows where it stands in it, also where the text gives locations of its own. Raises
    `ir.MLIRError`, whose places are those of the text, and Unreadable.
    """
    if content.startswith(BYTECODE):
        return _artifact(content, ctx) if _PORTABLE in content[:64] else ir.Module.parse(content, ctx)
    text = _text(content)
    bare = without_locations(text)
    placed = ir.Module.parse(bare, ctx)
    if bare is text:
        return placed
    module = ir.Module.parse(text, ctx)
    with ctx:
        _place(module.operation, placed.operation, ir.StringAttr.get(PLACED))
    return module


def _artifact(content: bytes, ctx: ir.Context) -> ir.Module:
    try:
        return stablehlo.deserialize_portable_artifact(ctx, content)
    except ValueError as error:
        raise Unreadable(f"expected a StableHLO artifact that this jaxlib reads: {error}") from None


def _text(content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise Unreadable(f"expected UTF-8 text, found byte 0x{content[error.start]:02x} at {error.start}") from None


def _place(op: ir.Operation, placed: ir.Operation, mark: ir.Attribute) -> None:
    op.location = ir.Location.fused([placed.location, op.location], mark)
    for region, other in zip(op.regions, placed.regions, strict=True):
        for block, twin in zip(region.blocks, other.blocks, strict=True):
            for argument, at in zip(block.arguments, twin.arguments, strict=True):
                argument.set_location(ir.Location.fused([at.location, argument.location], mark))
            for inner, at in zip(block.operations, twin.operations, strict=True):
                _place(inner.operation, at.operation, mark)


def legalise(module: ir.Module) -> None:
    """Makes of `chlo` ops what HLO has ops for (then in `mhlo`), of all others StableHLO, as XLA does.

    Ops that no pass knows stay as they are. So does `mhlo`: the pass from there to StableHLO refuses what StableHLO
    lacks, which we have.
    """
    found = _names(module.operation)
    for passes, prefixes in _LEGALISATIONS:
        if any(name.startswith(prefixes) for name in found):
            _run(module, passes)


_DYNAMIC = (
    *("dynamic_broadcast_in_dim", "dynamic_conv", "dynamic_gather", "dynamic_iota", "dynamic_pad", "dynamic_reshape"),
    "real_dynamic_slice",
)
_LEGALISATIONS = (
    ("func.func(chlo-legalize-to-high-level-mhlo),func.func(chlo-legalize-to-stablehlo)", ("chlo.",)),
    ("func.func(stablehlo-canonicalize-dynamism)", tuple(f"stablehlo.{name}" for name in _DYNAMIC)),
)
"""Passes, and the ops that they are for. Sizes that are constants in fact become attributes."""


def _names(op: ir.Operation) -> set[str]:
    found: set[str] = set()

    def look(inner: ir.Operation) -> ir.WalkResult:
        found.add(inner.name)
        return ir.WalkResult.ADVANCE

    op.walk(look)
    return found


def _run(module: ir.Module, passes: str) -> None:
    global _passes_registered
    if not _passes_registered:
        stablehlo.register_stablehlo_passes()
        mhlo.register_mhlo_passes()
        _passes_registered = True
    with module.context:
        passmanager.PassManager.parse(f"builtin.module({passes})").run(module.operation)


def pretty(text: str, locations: bool) -> str:
    """The text as MLIR prints it once it has verified it. Raises as `read` does."""
    module = ir.Module.parse(text, context())
    return str(module.operation.get_asm(enable_debug_info=locations, assume_verified=True))


def diagnostics(error: ir.MLIRError) -> tuple[Diagnostic, ...]:
    """What MLIR said, first things first."""
    return tuple(_diagnostic(found) for found in error.error_diagnostics)


def _diagnostic(found: ir.DiagnosticInfo) -> Diagnostic:
    notes = tuple(note.message for note in found.notes)
    return Diagnostic(_place_of(found.location), found.message.strip(), notes)


_FILE_PLACE = re.compile(r'loc\("[^"]*":(\d+):(\d+)')


def _place_of(location: ir.Location) -> Place:
    # Locations of diagnostics are not of their own class.
    match = _FILE_PLACE.match(str(location))
    return Place(int(match[1]), int(match[2])) if match else Place()


_STRING = r'"(?:[^"\\\n]|\\.)*"'
_LOCATION = re.compile(rf"{_STRING}|//[^\n]*|(?P<loc>(?:^#[\w$]+\s*=\s*|(?<![\w.$-]))loc\()", re.MULTILINE)
_SIMPLE = re.compile(r"#\w+\)|unknown\)")
_PAREN = re.compile(rf"{_STRING}|\(|\)")


def without_locations(text: str) -> str:
    """The text with `loc(…)` and aliases of locations blanked out; the text itself if it has none."""
    parts, at = list[str](), 0
    for match in _LOCATION.finditer(text):
        if match["loc"] is None or match.start() < at:
            continue
        end = _closing(text, match.end())
        location = text[match.start() : end]
        blank = re.sub(r"[^\n]", " ", location) if "\n" in location else " " * len(location)
        parts += [text[at : match.start()], blank]
        at = end
    return "".join([*parts, text[at:]]) if parts else text


def _closing(text: str, start: int) -> int:
    """The position behind the parenthesis that closes the one in front of `start`."""
    if simple := _SIMPLE.match(text, start):
        return simple.end()
    depth = 1
    for match in _PAREN.finditer(text, start):
        depth += {"(": 1, ")": -1}.get(match[0], 0)
        if not depth:
            return match.end()
    return len(text)
