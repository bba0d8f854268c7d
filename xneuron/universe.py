"""What plain `xdsl-opt` gets from xneuron: dialects, passes, formats. Nothing is imported before it is used."""

from __future__ import annotations

from xdsl.ir import Dialect
from xdsl.universe import Universe


def _hlo() -> Dialect:
    from xneuron.dialects.hlo import HLO

    return HLO


def _bir() -> Dialect:
    from xneuron.dialects.bir import BIR

    return BIR


XNEURON = Universe(all_dialects={"hlo": _hlo, "bir": _bir})
