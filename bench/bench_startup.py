"""How long the tools take to start, as a ratio to `xdsl-opt`; lit starts hundreds of processes."""

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TOOLS = Path(sys.executable).parent
ROUNDS = 9
PROGRAM = "func.func @f(%a: i32) -> i32 {\n  func.return %a : i32\n}\n"


def seconds(command: list[str]) -> float:
    """Wall time of one run."""
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def medians(commands: dict[str, list[str]]) -> dict[str, float]:
    """Median of each command's time; the commands take turns, so that the machine's mood hits all alike."""
    times: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(ROUNDS + 1):
        for name, command in commands.items():
            times[name].append(seconds(command))
    return {name: statistics.median(found[1:]) for name, found in times.items()}


def main() -> None:
    """Prints the table."""
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write(PROGRAM)
        file.flush()
        commands = {
            f"{tool} {' '.join(arguments)}": [str(TOOLS / tool), *arguments, *([file.name] if not arguments else [])]
            for tool, arguments in (
                ("xdsl-opt", ["--help"]),
                ("xneuron-opt", ["--help"]),
                ("xneuron-run", ["--help"]),
                ("xdsl-opt", []),
                ("xneuron-opt", []),
            )
        }
        found = medians(commands)
    for name, took in found.items():
        peer = found["xdsl-opt --help" if "--help" in name else "xdsl-opt "]
        what = name if "--help" in name else f"{name}FILE"
        print(f"{what:<22} {took * 1000:6.0f} ms   {took / peer:5.2f} x xdsl-opt")


if __name__ == "__main__":
    main()
