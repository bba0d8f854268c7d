"""XLA on CPU as a second opinion: runs batches of texts in another process, since bad programs abort it.

Compiled so that results can be compared bit for bit (see `worker.py`). XLA is no oracle for trip counts.
"""

from __future__ import annotations

import atexit
import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from xneuron.formats.arrays import load_arrays, save_arrays

WORKER = Path(__file__).with_name("worker.py")


@dataclass
class Program:
    """An HLO module's text (or StableHLO's, if `stablehlo`) and its arguments: one list of arrays per participant.

    `partitions`: of each replica; participants are numbered replica * partitions + partition.
    `fuse`: let XLA fuse. It then contracts multiply and add into one rounding; but without, its dots of types that are
    neither signed integers nor real floats pair several contracted dimensions wrongly (jaxlib 0.10.2).
    """

    text: str
    replicas: Sequence[Sequence[np.ndarray]] = field(default_factory=lambda: [[]])
    fuse: bool = False
    partitions: int = 1
    stablehlo: bool = False

    @staticmethod
    def of(text: str, *inputs: np.ndarray) -> Program:
        """A program for one replica."""
        return Program(text, [inputs])


@dataclass
class Outcome:
    """Outputs per participant (a tuple result is flattened), or why there are none."""

    replicas: list[list[np.ndarray]] | None
    error: str = ""

    @property
    def outputs(self) -> list[np.ndarray]:
        """Outputs of the first replica. Raises RuntimeError with XLA's message where it gave none."""
        if self.replicas is None:
            raise RuntimeError(self.error)
        return self.replicas[0]


class Worker:
    """The process XLA runs in: started when first needed, again after it was aborted, ended with this one."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def run(self, directory: Path, first: int) -> str:
        """Runs the batch in a directory from a case on. Returns why the process ended, nothing if it did not."""
        process = self._process = self._process or self._start()
        if process.stdin is None or process.stdout is None:
            raise RuntimeError("expected a process with pipes")
        process.stdin.write(f"{directory} {first}\n")
        process.stdin.flush()
        if process.stdout.readline().strip() == "done":
            return ""
        self._process = None
        return f"XLA ended with {process.wait()}"

    def _start(self) -> subprocess.Popen[str]:
        pipe = subprocess.PIPE
        process = subprocess.Popen(
            [sys.executable, WORKER], stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True
        )
        atexit.register(process.kill)
        return process


_worker = Worker()


def run_on_xla(programs: Sequence[Program]) -> list[Outcome]:
    """Outcome of each program. A program that aborts XLA gets an error, the ones after it a new process."""
    with TemporaryDirectory() as name:
        directory = Path(name)
        _write(directory, programs)
        outcomes: list[Outcome] = []
        while len(outcomes) < len(programs):
            end = _worker.run(directory, len(outcomes))
            outcomes += _read(directory, len(outcomes), [len(program.replicas) for program in programs])
            if len(outcomes) < len(programs):
                outcomes.append(Outcome(None, end))
        return outcomes


def _write(directory: Path, programs: Sequence[Program]) -> None:
    arrays: dict[str, np.ndarray] = {}
    cases: list[dict[str, object]] = []
    for index, program in enumerate(programs):
        names = [[f"{index}.{r}.{i}" for i in range(len(row))] for r, row in enumerate(program.replicas)]
        for row_names, row in zip(names, program.replicas, strict=True):
            arrays.update(zip(row_names, map(np.asarray, row), strict=True))
        said = {"text": program.text, "stablehlo": program.stablehlo}
        cases.append({**said, "inputs": names, "fuse": program.fuse, "partitions": program.partitions})
    save_arrays(directory / "inputs.npz", arrays)
    (directory / "cases.json").write_text(json.dumps(cases))


def _read(directory: Path, first: int, replicas: Sequence[int]) -> list[Outcome]:
    outcomes: list[Outcome] = []
    for index in range(first, len(replicas)):
        if (failed := directory / f"{index}.txt").exists():
            outcomes.append(Outcome(None, failed.read_text()))
        elif (done := directory / f"{index}.npz").exists():
            outcomes.append(Outcome(_by_replica(load_arrays(done), replicas[index])))
        else:
            break
    return outcomes


def _by_replica(arrays: dict[str, np.ndarray], replicas: int) -> list[list[np.ndarray]]:
    rows: list[list[np.ndarray]] = [[] for _ in range(replicas)]
    for name, value in arrays.items():
        rows[int(name.split(".")[0])].append(value)
    return rows
