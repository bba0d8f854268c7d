"""An open compiler for loops: exact trip counts, unrolling and runtime-bounded loops for HLO, on xDSL."""

__version__ = "0.1.0"
