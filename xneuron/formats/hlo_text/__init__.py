"""HLO text, in and out: `parse_hlo`, `print_hlo`, and the plug-ins `HloFrontend`, `HloTarget`."""

from xneuron.formats.hlo_text.parser import parse_hlo
from xneuron.formats.hlo_text.plugins import HloFrontend, HloTarget
from xneuron.formats.hlo_text.printer import print_hlo

__all__ = ["HloFrontend", "HloTarget", "parse_hlo", "print_hlo"]
