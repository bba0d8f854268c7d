"""`xneuron.to_jax`: a module as a function of arrays."""

# Most of what JAX gives has no types.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from xneuron.dialects.hlo.attributes import int_of
from xneuron.dialects.hlo.custom import CustomCallOp
from xneuron.dialects.hlo.functions import entry_of
from xneuron.dialects.hlo.types import DYNAMIC, element_of, is_tensor, shape_of, spelled
from xneuron.formats.stablehlo.process import require_extra
from xneuron.formats.stablehlo.writer.aliases import aliases, donors
from xneuron.formats.stablehlo.writer.emitter import described
from xneuron.formats.stablehlo.writer.module import print_stablehlo
from xneuron.formats.stablehlo.writer.text import leaf_types
from xneuron.jax_bridge.partitions import Run, Shapes, layout_of, on_mesh, stacked, tells_apart
from xneuron.jax_bridge.primitive import Program, dtype_of, run
from xneuron.jax_bridge.results import rebuilt
from xneuron.jax_bridge.signature import signature_of


def to_jax(module: ModuleOp) -> Callable[..., Any]:
    """A function that runs the module on JAX's default back end, compiled at its first call.

    It takes the entry computation's parameters in order, pytrees of arrays for tuples, and returns an array, or a
    tuple of arrays for a tuple. The function of a module that `from_jax` made takes and returns what the function given
    there does, but for static arguments; donated ones are donated. It can be used like any JAX function: under
    `jax.jit`, on tracers, as a part of others, under `jax.vmap` (one after the other). There are no derivatives of it.

    Programs of several partitions run on as many devices (see `partitions.py`); those in which no partition meets or
    tells itself from another, on one, with whole values. Boundary markers do nothing, but on Neuron. The module is not
    changed, and may be changed afterwards.

    Raises MissingExtra without the extra `jax`, VerifyException for what StableHLO cannot express or JAX cannot run
    (replicas that meet, calls back into Python), TypeError for what is no module. The function
    raises TypeError for arguments that do not fit, ValueError where there are too few devices.
    """
    require_extra()
    _expect_runnable(module)
    entry = entry_of(module)
    program = _program(module, entry)
    compiled, shapes = _compiled(program, module, entry)
    names = [name or "" for argument in entry.body.block.args for name in _names(argument.name_hint, argument.type)]
    signature = signature_of(module, len(program.inputs), len(program.outputs))
    structure = rebuilt(entry) if signature is None else signature.value
    wide = _needs_x64((*program.inputs, *program.outputs))

    def call(*arguments: Any, **named: Any) -> Any:
        with _x64() if wide else nullcontext():
            given = _leaves(arguments, named) if signature is None else signature.parameters(arguments, named)
            if len(given) != len(program.inputs):
                raise TypeError(f"expected arrays for ({_listed(names, program)}), found {len(given)}")
            return structure(compiled(*map(_array, given, program.inputs, shapes, names)))

    call.__name__ = call.__qualname__ = program.name
    call.__doc__ = f"({_listed(names, program)}) -> ({', '.join(map(spelled, program.outputs))})"
    return call


def _expect_runnable(module: Any) -> None:
    """Raises TypeError for what is no module, VerifyException for what JAX cannot run."""
    if not isinstance(module, ModuleOp):
        raise TypeError(f"expected a module, found {type(module).__name__}")
    replicas = int_of(module.attributes.get("hlo.replica_count"), 1)
    if replicas != 1 and tells_apart(module):
        raise VerifyException(f"expected a module of 1 replica (JAX has partitions alone), found {replicas} replicas")
    for op in module.walk():
        if isinstance(op, CustomCallOp) and "python" in (target := op.custom_call_target.data) and "callback" in target:
            raise VerifyException(f"expected a program that does not call Python back, found {described(op)}")


def _leaves(arguments: Sequence[Any], named: Mapping[str, Any]) -> list[Any]:
    import jax

    if named:
        raise TypeError(f"expected arguments by position, since the program knows no other, found {', '.join(named)}")
    return jax.tree.leaves(arguments)


def _program(module: ModuleOp, entry: FuncOp) -> Program:
    inputs = [leaf for type in entry.function_type.inputs.data for leaf in leaf_types(type)]
    outputs = [leaf for type in entry.function_type.outputs.data for leaf in leaf_types(type)]
    for type in (*inputs, *outputs):
        if not is_tensor(type) or DYNAMIC in shape_of(type):
            raise VerifyException(f"expected arrays of static shape as parameters and results, found {spelled(type)}")
    name = module.sym_name.data if module.sym_name and module.sym_name.data else entry.sym_name.data
    return Program(name, print_stablehlo(module, native_markers=_backend() == "neuron"), tuple(inputs), tuple(outputs))


def _backend() -> str:
    import jax

    return jax.default_backend()


def _compiled(program: Program, module: ModuleOp, entry: FuncOp) -> tuple[Run, Shapes]:
    import jax

    partitions = int_of(module.attributes.get("hlo.num_partitions"), 1)
    if (layout := layout_of(module, entry)) is not None:
        call, shapes = on_mesh(program, layout)
    elif partitions > 1 and tells_apart(module):
        call, shapes = stacked(program, partitions)
    else:
        call, shapes = _alone(program), [(shape_of(type),) for type in program.inputs]
    return jax.jit(call, donate_argnums=_donated(module, entry)), shapes


def _donated(module: ModuleOp, entry: FuncOp) -> list[int]:
    """The arguments whose memory the program may use for its results."""
    leaves: list[list[dict[str, str]]] = [[{} for _ in leaf_types(type)] for type in entry.function_type.inputs.data]
    aliases(module, entry, leaves)
    donors(module, entry, leaves)
    return [number for number, said in enumerate(leaf for parameter in leaves for leaf in parameter) if said]


def _alone(program: Program) -> Run:
    return lambda *arrays: run(program, arrays)


def _names(name: str | None, type: Attribute) -> list[str | None]:
    leaves = len(leaf_types(type))
    return [name] if leaves == 1 else [f"{name}.{index}" for index in range(leaves)]


def _listed(names: Sequence[str], program: Program) -> str:
    return ", ".join(f"{name}: {spelled(type)}" for name, type in zip(names, program.inputs, strict=True))


def _needs_x64(types: Sequence[Attribute]) -> bool:
    return any(element_of(type).bits > (64 if element_of(type).kind == "complex" else 32) for type in types)


def _x64() -> AbstractContextManager[Any]:
    import jax

    return jax.enable_x64(True)


_NUMBERS: dict[str, tuple[type, ...]] = {
    "pred": (bool,),
    "int": (bool, int),
    "uint": (bool, int),
    "float": (bool, int, float),
    "complex": (bool, int, float, complex),
}
"""Numbers of Python that become elements of each kind."""


def _array(given: Any, type: Attribute, shapes: Sequence[tuple[int, ...]], name: str) -> Any:
    """The argument as an array of the parameter's elements. Raises TypeError where it has others, or another shape."""
    import jax
    import jax.numpy as jnp

    dtype = dtype_of(type)
    own: Any = getattr(given, "dtype", None)
    if jnp.issubdtype(own, jax.dtypes.prng_key):
        given = jax.random.key_data(given)
    array = jnp.asarray(given, dtype if isinstance(given, _NUMBERS[element_of(type).kind]) else None)
    if array.dtype != dtype:
        raise TypeError(f"expected {name or 'an argument'} of {dtype}, found {array.dtype}")
    if array.shape not in shapes:
        raise TypeError(
            f"expected {name or 'an argument'} of shape {' or '.join(map(str, shapes))}, found {array.shape}"
        )
    return array
