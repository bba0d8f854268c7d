"""Programs on all levels: HLO's evaluator, BIR with its loops, BIR in branches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Region

from xneuron.analysis.cfg import CFG
from xneuron.analysis.register_liveness import check_registers
from xneuron.dialects.bir.functions import FuncOp
from xneuron.formats.bir_json import parse_bir_json, print_bir_json
from xneuron.formats.hlo_text import parse_hlo
from xneuron.interpreters.evaluator import Program as Evaluator
from xneuron.lowering.bir_lower_loops_to_branches import lower_loops_to_branches
from xneuron.lowering.convert_hlo_to_bir import ConvertHloToBir
from xneuron.simulator.program import Program as Simulator

Arrays = list[np.ndarray]


def module_of(program: str | ModuleOp) -> ModuleOp:
    """A module of its own, from HLO text or another module."""
    return parse_hlo(program, "test.hlo") if isinstance(program, str) else program.clone()


def lowered(program: str | ModuleOp) -> ModuleOp:
    """The BIR of an HLO program, checked: verifier, topology, registers."""
    module = module_of(program)
    ConvertHloToBir().apply(Context(), module)
    check(module)
    return module


def branched(module: ModuleOp) -> ModuleOp:
    """The same with its loops as branches, checked."""
    module = module.clone()
    lower_loops_to_branches(function_of(module))
    check(module)
    return module


def function_of(module: ModuleOp) -> FuncOp:
    (function,) = module.body.block.ops
    assert isinstance(function, FuncOp)
    return function


def check(module: ModuleOp) -> None:
    """All that can be said of a program without running it."""
    module.verify()
    function = function_of(module)
    for region in _regions(function):
        CFG.of_region(region).validate_topology()
    check_registers(function)


def _regions(function: FuncOp) -> Iterable[Region]:
    return (region for op in function.walk() for region in op.regions)


def run_hlo(program: str | ModuleOp, *arrays: Any) -> Arrays:
    """The outputs of the evaluator, tuples in tuples flattened."""
    return list(flat(Evaluator(module_of(program)).run(*arrays)))


def flat(values: Iterable[Any]) -> Iterable[np.ndarray]:
    """The arrays of nested tuples."""
    for value in values:
        if isinstance(value, tuple | list):
            yield from flat(value)
        else:
            yield np.asarray(value)


def run_bir(module: ModuleOp, arrays: Sequence[Any], like: Sequence[np.ndarray], **options: Any) -> Arrays:
    """The outputs of the simulator, in the shapes and dtypes of those of the evaluator (a pred is a byte in BIR).

    Arrays without elements have no locations.
    """
    program = Simulator(module, **options)
    given = {
        location.label: np.asarray(array).reshape(location.geometry.shape)
        for location, array in zip(program.inputs, filter(np.size, flat(arrays)), strict=True)
    }
    given = {name: array.astype(np.uint8) if array.dtype == np.bool_ else array for name, array in given.items()}
    found = program.run(given).outputs
    outputs = iter(program.outputs)
    return [_as_hlo(found[next(outputs).label], wanted) if wanted.size else wanted for wanted in like]


def _as_hlo(found: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    if wanted.dtype == np.bool_:
        assert (found <= 1).all(), "a pred is 0 or 1"
        found = found.astype(np.bool_)
    return found.reshape(wanted.shape)


def run_levels(program: str | ModuleOp, *arrays: Any, **options: Any) -> dict[str, Arrays]:
    """What a program gives on each level: `hlo`, `bir`, `branches`; and by way of BIR-JSON, which must give the same.

    Arrays are the parameters, tuples as tuples. Options are the simulator's; it is strict unless told otherwise.
    """
    options = {"strict": True, **options}
    hlo = run_hlo(program, *arrays)
    structured = lowered(program)
    flat = branched(structured)
    results = {"hlo": hlo, "bir": run_bir(structured, arrays, hlo, **options)}
    results["branches"] = run_bir(flat, arrays, hlo, **options)
    for name, module in (("bir", structured), ("branches", flat)):
        reloaded = parse_bir_json(print_bir_json(module))
        check(reloaded)
        for wanted, found in zip(results[name], run_bir(reloaded, arrays, hlo, **options), strict=True):
            assert same_bits(wanted, found), f"{name} is another program when read from its JSON"
    return results


def same_bits(a: np.ndarray, b: np.ndarray) -> bool:
    """Equal in shape, dtype and bits; all NaN are one."""
    return a.shape == b.shape and a.dtype == b.dtype and not different(a, b).any()


def different(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Where two arrays of one shape and dtype differ in bits; all NaN are one."""
    word = f"u{a.dtype.itemsize}"
    unequal = np.atleast_1d(a).view(word) != np.atleast_1d(b).view(word)
    return unequal.reshape(a.shape) if a.dtype.kind in "iub" else unequal.reshape(a.shape) & ~(_nan(a) & _nan(b))


def _nan(a: np.ndarray) -> np.ndarray:
    return np.isnan(a.astype(np.float32) if a.dtype.itemsize < 4 else a)


def agree(program: str | ModuleOp, *arrays: Any, **options: Any) -> Arrays:
    """Asserts that all levels give the same bits; returns what they give."""
    results = run_levels(program, *arrays, **options)
    for level in ("bir", "branches"):
        for number, (wanted, found) in enumerate(zip(results["hlo"], results[level], strict=True)):
            assert same_bits(wanted, found), f"output {number} of {level}: expected {wanted}, found {found}"
    return results["hlo"]
