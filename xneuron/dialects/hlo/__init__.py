"""The `hlo` dialect: what HLO programs are made of, one file per chapter.

A computation is a `func.func` (a call is `func.call`) or a region of the op that owns it. Every opcode of
XLA is an op whose name is the opcode with underscores. See `docs/architecture.md`.
"""

from xdsl.ir import Dialect

from xneuron.dialects.hlo import (
    attributes,
    collectives,
    contractions,
    control_flow,
    custom,
    data_movement,
    elementwise,
    indexing,
    random,
    reductions,
    types,
)

HLO = Dialect(
    "hlo",
    [
        *control_flow.OPS,
        *elementwise.OPS,
        *data_movement.OPS,
        *indexing.OPS,
        *reductions.OPS,
        *contractions.OPS,
        *collectives.OPS,
        *random.OPS,
        *custom.OPS,
    ],
    [*types.ATTRIBUTES, *attributes.ATTRIBUTES],
)
