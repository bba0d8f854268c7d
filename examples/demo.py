"""`make demo`: a real program's loops are counted, unrolled, lowered to the register machine; all forms agree."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
TOOLS = Path(sys.executable).parent
PROGRAM = "examples/decoder.hlo"
UNROLLED = "demo-out/decoder.unrolled.hlo"
LOWERED = "demo-out/decoder.bir.mlir"
UNROLL = "unroll-while-loop,call-inliner,tuple-simplifier,hlo-dce"


class Form(NamedTuple):
    """What is counted of a program's form: its text, and one run of it."""

    text: str
    outputs: Any
    profile: dict[str, Any]

    def facts(self) -> dict[str, int]:
        """The rows of the table."""
        lines = self.text.splitlines()
        return {
            "while loops in the text": sum(" while(" in line for line in lines),
            "computations in the text": sum(line.endswith("{") for line in lines),
            "instructions in the text": sum(" = " in line for line in lines),
            "iterations executed": sum(self.profile["iterations"].values()),
            "instructions executed": self.profile["executed"],
        }


def tool(*words: str) -> tuple[str, str]:
    """Runs one of the tools as a user would; what it wrote to stdout and stderr. Ends the demo if it failed."""
    print(f"  $ {shlex.join(words)}")
    command = [str(TOOLS / words[0]), *words[1:]]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    if done.returncode:
        sys.exit(f"{done.stderr}demo: {words[0]} ended with {done.returncode}")
    return done.stdout, done.stderr


def run(path: str) -> Form:
    """Runs a program on random inputs, the same for each form."""
    report = json.loads(tool("xneuron-run", path, "--random", "9", "--json", "--profile")[0])
    return Form((ROOT / path).read_text(), report["outputs"], report["profile"])


def title(text: str) -> None:
    """A heading."""
    print(f"\n{text}\n")


def show_remarks(text: str) -> None:
    """Remarks without the path that each begins with, the facts on a line of their own."""
    for line in text.splitlines():
        sentence, _, facts = line.removeprefix(f"{PROGRAM}:").partition(" (trips=")
        print(f"    line {sentence}")
        if facts:
            print(f"        trips={facts.removesuffix(')')}")


def main() -> None:
    """The tour."""
    title(f"1. How often does each loop of {PROGRAM} run?")
    show_remarks(tool("xneuron-opt", PROGRAM, "-p", "annotate-while-trip-count", "--remarks")[1])

    title("2. Unroll what can be unrolled")
    (ROOT / UNROLLED).parent.mkdir(exist_ok=True)
    show_remarks(tool("xneuron-opt", PROGRAM, "-p", UNROLL, "--remarks", "-t", "hlo", "-o", UNROLLED)[1])

    title("3. Run both forms on the same inputs")
    before, after = run(PROGRAM), run(UNROLLED)

    title("4. What changed")
    print(f"    {'':<28}{'before':>10}{'after':>10}")
    for (fact, old), new in zip(before.facts().items(), after.facts().values(), strict=True):
        print(f"    {fact:<28}{old:>10}{new:>10}")
    tokens, norm = before.outputs[0]
    print(f"\n    both write the tokens {tokens['data'][1:7]}, and the norm {norm['data']}")
    if before.outputs != after.outputs:
        sys.exit("    but no: the two forms DISAGREE")
    print(f"    and agree bit for bit; see {UNROLLED}")

    title("5. The same program on the register machine")
    loops = tool("xneuron-opt", PROGRAM, "-p", "convert-hlo-to-bir", "-o", LOWERED, "--remarks")[1]
    show_remarks(loops)
    print("    " + tool("xneuron-run", PROGRAM, "--random", "9", "--check-levels")[0] + f"    see {LOWERED}\n")


if __name__ == "__main__":
    main()
