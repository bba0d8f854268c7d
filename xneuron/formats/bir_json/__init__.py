"""BIR-JSON, in and out: `parse_bir_json`, `print_bir_json`, and the plug-ins."""

from xneuron.formats.bir_json.plugins import (
    BirJsonFrontend,
    BirJsonTarget,
    JsonFrontend,
    parse_bir_json,
    print_bir_json,
)

__all__ = ["BirJsonFrontend", "BirJsonTarget", "JsonFrontend", "parse_bir_json", "print_bir_json"]
