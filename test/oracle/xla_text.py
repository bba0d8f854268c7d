"""XLA's own reader and printer of HLO text: what it makes of a text, in a subprocess, since it can abort."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence


def reprinted(texts: Sequence[str]) -> list[str]:
    """Each text as XLA prints it after reading it; `error: …` where it refuses."""
    process = subprocess.run(
        [sys.executable, __file__], input=json.dumps(list(texts)), capture_output=True, text=True, check=False
    )
    assert process.returncode == 0, process.stderr[-2000:]
    return json.loads(process.stdout)


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
