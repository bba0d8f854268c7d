"""The `hlo` dialect to StableHLO, as text in MLIR's generic form. Nothing here needs jaxlib."""

from xneuron.formats.stablehlo.writer.module import print_stablehlo

__all__ = ["print_stablehlo"]
