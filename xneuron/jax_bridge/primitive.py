"""A JAX primitive that runs a program: its StableHLO becomes a function of whatever JAX is compiling.

So a program is a part of JAX like any other: under `jax.jit`, in `shard_map`, on the default back end, compiled once.
"""

# Most of what JAX and MLIR give has no types.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NoReturn

from xdsl.ir import Attribute

from xneuron.dialects.hlo.types import element_of, shape_of


@dataclass(frozen=True, eq=False)
class Program:
    """A module's StableHLO with the types of what its entry takes and returns, tuples flattened."""

    name: str
    text: str
    inputs: tuple[Attribute, ...]
    outputs: tuple[Attribute, ...]


def run(program: Program, arguments: Sequence[Any]) -> list[Any]:
    """The results for these arrays, inside or outside of what JAX traces."""
    return _primitive().bind(*arguments, program=program)


def dtype_of(type: Attribute) -> Any:
    """The dtype of an array's elements."""
    import ml_dtypes
    import numpy as np

    name = element_of(type).numpy
    return np.dtype(getattr(ml_dtypes, name, None) or name)


@cache
def _primitive() -> Any:
    from jax.extend.core import Primitive
    from jax.interpreters import ad, batching, mlir

    primitive = Primitive("xneuron_program")
    primitive.multiple_results = True
    primitive.def_abstract_eval(_result_types)
    mlir.register_lowering(primitive, _lowered)
    batching.primitive_batchers[primitive] = _batched
    ad.primitive_jvps[primitive] = _no_derivatives
    return primitive


def _batched(arguments: Sequence[Any], axes: Sequence[int | None], *, program: Program) -> tuple[list[Any], list[int]]:
    """One after the other: the program has the shapes that it has."""
    import jax
    import jax.numpy as jnp

    moved = [
        argument if axis is None else jnp.moveaxis(argument, axis, 0)
        for argument, axis in zip(arguments, axes, strict=True)
    ]
    batch = [argument for argument, axis in zip(moved, axes, strict=True) if axis is not None]

    def one(parts: Sequence[Any]) -> list[Any]:
        rest = iter(parts)
        return run(program, [whole if axis is None else next(rest) for whole, axis in zip(moved, axes, strict=True)])

    results = jax.lax.map(one, batch)
    return results, [0] * len(results)


def _no_derivatives(primals: Sequence[Any], tangents: Sequence[Any], *, program: Program) -> NoReturn:
    raise NotImplementedError(
        f"expected no derivatives of {program.name}, which is a program and no function of JAX any more: take them "
        "before, as in from_jax(jax.grad(f), …)"
    )


def _result_types(*arguments: Any, program: Program) -> list[Any]:
    from jax.core import ShapedArray

    return [ShapedArray(shape_of(type), dtype_of(type)) for type in program.outputs]


def _lowered(context: Any, *arguments: Any, program: Program) -> Any:
    """A call of the program's entry, which joins the module that JAX is making."""
    from jax.interpreters import mlir
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import func

    module = ir.Module.parse(program.text)
    entry: Any = ir.SymbolTable(module.operation)["main"]
    types = list(entry.type.results)
    outer = context.module_context
    name = mlir.merge_mlir_modules(outer.module, program.name, module, dst_symtab=outer.symbol_table)
    return func.CallOp(types, ir.FlatSymbolRefAttr.get(name), list(arguments)).results
