"""The process that has MLIR in it: `python -m xneuron.formats.stablehlo.worker`. MLIR can abort; only this one ends.

A request on stdin and an answer on stdout are each a pickle of plain data:
`("parse", content)` is answered by `("ok", Op)`, `("pretty", text, locations)` by `("ok", text)`, and both by
`("refused", diagnostics)` where MLIR does not take the text.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
from __future__ import annotations

import gc
import os
import pickle
import sys
from typing import Any

from jaxlib.mlir import ir

from xneuron.formats.stablehlo import decode, mlir
from xneuron.formats.stablehlo.tree import Diagnostic, Op, Place


def _parse(content: bytes) -> Op:
    module = mlir.read(content, mlir.context())
    mlir.legalise(module)
    return decode.tree(module)


_COMMANDS = {"parse": _parse, "pretty": mlir.pretty}


def _answer(command: str, *arguments: Any) -> tuple[str, Any]:
    try:
        return "ok", _COMMANDS[command](*arguments)
    except ir.MLIRError as error:
        return "refused", mlir.diagnostics(error)
    except mlir.Unreadable as error:
        return "refused", (Diagnostic(Place(), str(error)),)


def main() -> None:
    """Answers requests until there are no more."""
    # Whatever MLIR prints must not get between the answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sys.setrecursionlimit(20_000)
    # Trees have no cycles, and are many objects at once.
    gc.disable()
    while True:
        try:
            request = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        pickle.dump(_answer(*request), answers, pickle.HIGHEST_PROTOCOL)
        answers.flush()


if __name__ == "__main__":
    main()
