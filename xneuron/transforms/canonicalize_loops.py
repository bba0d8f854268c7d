"""Brings loops to the form that trip counts are found in: scalars merged, tuples seen through, constants inside."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from xneuron.transforms.hlo_cse import merge_equal_instructions
from xneuron.transforms.tuple_simplifier import simplify_tuples
from xneuron.transforms.while_loop_constant_sinking import sink_constants

ROUNDS = 25


def canonicalize(module: ModuleOp, rounds: int = ROUNDS) -> bool:
    """Repeats the three until nothing changes, at most `rounds` times; true if anything ever did.

    Steps and their options are those of XLA's PrepareModuleForUnrolling (xla-semantics.md b.2), except that loops keep
    the tuples they start from. XLA runs the steps once, and its own fixpoint reports "unchanged" at the limit (B16);
    this one does not.
    """
    for done in range(rounds):
        if not _round(module):
            return done > 0
    return rounds > 0


def _round(module: ModuleOp) -> bool:
    merged = merge_equal_instructions(module, layout_sensitive=True, only_scalars=True)
    simplified = simplify_tuples(module, keep_loop_operands=True)
    sunk = sink_constants(module, broadcasts=True, only_scalars=True)
    return merged or simplified or sunk
