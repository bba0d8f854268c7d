"""`xneuron.from_jax`: what JAX traces and lowers, as a module of the `hlo` dialect."""

# The bindings' stubs leave most things unknown.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import ModuleOp

from xneuron.formats.stablehlo.parser import translated
from xneuron.formats.stablehlo.process import require_extra

if TYPE_CHECKING:
    from jax.stages import Lowered


def from_jax(function: Callable[..., Any] | Lowered, *args: Any, **kwargs: Any) -> ModuleOp:
    """The verified module of what JAX makes of `function(*args, **kwargs)`.

    `function` may be a plain function, one under `jax.jit` (then its static and donated arguments count), what
    `.trace(…)` gives, or a `jax.stages.Lowered`, which takes no arguments. Arguments may be arrays or
    `jax.ShapeDtypeStruct`s. Of a plain function all arguments become parameters, used or not.
    Raises StablehloError for what HLO cannot express, naming the line of Python, and ImportError without the
    extra `jax`.
    """
    require_extra()
    lowered = function if hasattr(function, "compiler_ir") else _lowered(function, *args, **kwargs)
    module = translated(_tree(lowered), "jax")
    module.verify()
    return module


def _lowered(function: Any, *args: Any, **kwargs: Any) -> Any:
    import jax
    from jax.extend.source_info_util import register_exclusion

    # This file is no user's frame.
    register_exclusion(__file__)
    stage = function if hasattr(function, "lower") else jax.jit(function, keep_unused=True)
    return stage.lower(*args, **kwargs)


def _tree(lowered: Any) -> Any:
    """The module as plain data. JAX's own stays as it is: what is worked on is a copy in a context of ours."""
    from jaxlib.mlir import ir

    from xneuron.formats.stablehlo import decode, mlir

    bytecode = BytesIO()
    lowered.compiler_ir("stablehlo").operation.write_bytecode(bytecode)
    module = ir.Module.parse(bytecode.getvalue(), mlir.context())
    mlir.legalise(module)
    return decode.tree(module)
