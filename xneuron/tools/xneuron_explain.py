"""`xneuron-explain`: one short paragraph per loop: how often it runs, what can be made of it, what it costs."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from xneuron import __version__
from xneuron.tools.guard import OK, guarded, quiet_pipes
from xneuron.tools.program_tool import ProgramTool
from xneuron.tools.run_bir import is_bir
from xneuron.tools.usage import recorded

SCHEMA = 1


class ExplainMain(ProgramTool):
    """The driver: reads, applies a pipeline, explains what came out."""

    DESCRIPTION = "Explains the loops of HLO programs, in any format the frontends read, and of BIR."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="Print one JSON object with a list of loops")
        parser.add_argument(
            "--hardware",
            choices=("trn1", "trn2", "trn3"),
            default="trn2",
            help="BIR: whose latencies to add up (default: %(default)s)",
        )
        parser.add_argument("-v", "--version", action="version", version=f"xneuron-explain {__version__}")

    def execute(self) -> int:
        """Does the work; returns the exit code."""
        with recorded(self.args.remarks):
            module = self.read()
            self.transform(module, self.args.passes)
        facts, paragraphs = self.explain(module)
        if self.args.json:
            print(json.dumps({"schema": SCHEMA, "file": self.get_input_name(), **facts}))
        else:
            print("\n\n".join(paragraphs) or f"{self.get_input_name()}: no loops")
        return OK

    def explain(self, module: ModuleOp) -> tuple[dict[str, Any], list[str]]:
        """Level and loops as JSON, of BIR also the functions; and a paragraph for each."""
        if is_bir(module):
            from xneuron.tools import explain_bir as bir

            loops, functions = bir.explained(module, self.args.hardware), bir.functions(module, self.args.hardware)
            rows = {"loops": [*map(bir.as_json, loops)], "functions": [*map(bir.function_as_json, functions)]}
            return {"level": "bir", **rows}, [*map(bir.as_text, loops), *map(bir.function_as_text, functions)]
        from xneuron.tools import explain_loops, explain_text

        found = explain_loops.explained(module)
        return {"level": "hlo", "loops": [*map(explain_loops.as_json, found)]}, [*map(explain_text.as_text, found)]


def run(argv: Sequence[str]) -> int:
    """Runs the tool in this process; returns the exit code."""
    return guarded("xneuron-explain", lambda sources: ExplainMain(argv, sources).execute(), argv)


def main() -> None:
    """The console script."""
    quiet_pipes()
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
