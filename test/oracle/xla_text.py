"""XLA's own reader and printer of HLO text: what it makes of a text, in a subprocess, since it can abort."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from functools import cache


def reprinted(texts: Sequence[str]) -> list[str]:
    """Each text as XLA prints it after reading it; `error: …` where it refuses."""
    process = subprocess.run(
        [sys.executable, __file__], input=json.dumps(list(texts)), capture_output=True, text=True, check=False
    )
    assert process.returncode == 0, process.stderr[-2000:]
    return json.loads(process.stdout)


def without_tables(text: str) -> str:
    """The text with each stack frame spelled out where it is used: XLA numbers the rows of its tables as it likes."""
    tables: dict[str, dict[str, str]] = {}
    for name in ("FileNames", "FunctionNames", "FileLocations", "StackFrames"):
        found = re.search(rf"^{name}\n((?:\d+ .*\n)*)\n*", text, re.MULTILINE)
        if found is None:
            return text
        tables[name] = dict(row.split(" ", 1) for row in found[1].splitlines())
        text = text.replace(found[0], "")

    @cache
    def frame(number: str) -> str:
        row = _fields(tables["StackFrames"].get(number, ""))
        if not row:
            return "?"
        place = _fields(tables["FileLocations"][row["file_location_id"]])
        place["file_name_id"] = tables["FileNames"][place["file_name_id"]]
        place["function_name_id"] = tables["FunctionNames"][place["function_name_id"]]
        # Printed parents count from 1 for "none".
        parent = int(row["parent_frame_id"]) - 1
        return f"{place} < {frame(str(parent))}" if parent > 0 else f"{place}"

    return re.sub(r"stack_frame_id=(\d+)", lambda found: frame(found[1]), text)


def _fields(row: str) -> dict[str, str]:
    return dict(field.split("=", 1) for field in row.strip("{}").split())


def _reprint(text: str) -> str:
    from jaxlib import _hlo

    options = _hlo.HloPrintOptions()
    options.print_large_constants = True
    try:
        return _hlo.hlo_module_from_text(text).to_string(options)
    except Exception as error:
        return f"error: {error}"


if __name__ == "__main__":
    json.dump([_reprint(text) for text in json.load(sys.stdin)], sys.stdout)
