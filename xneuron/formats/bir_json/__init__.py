"""BIR-JSON, in and out: `parse_bir_json`, `print_bir_json`, and the plug-ins `BirJsonFrontend`, `BirJsonTarget`."""

from xneuron.formats.bir_json.plugins import BirJsonFrontend, BirJsonTarget, parse_bir_json, print_bir_json

__all__ = ["BirJsonFrontend", "BirJsonTarget", "parse_bir_json", "print_bir_json"]
