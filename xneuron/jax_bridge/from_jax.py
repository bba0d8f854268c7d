"""`xneuron.from_jax`: what JAX traces and lowers, as a module of the `hlo` dialect."""

# The bindings' stubs leave most things unknown.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import ModuleOp

from xneuron.dialects.hlo.functions import entry_of
from xneuron.formats.stablehlo.parser import translated
from xneuron.formats.stablehlo.process import require_extra
from xneuron.jax_bridge.signature import remember

if TYPE_CHECKING:
    from jax.export import Exported
    from jax.stages import Lowered


def from_jax(function: Callable[..., Any] | Lowered | Exported, *args: Any, **kwargs: Any) -> ModuleOp:
    """The verified module of what JAX makes of `function(*args, **kwargs)`.

    `function` may be a plain function, one under `jax.jit` (then its static and donated arguments count), what
    `.trace(…)` gives, or a `jax.stages.Lowered` or `jax.export.Exported`, which take no arguments. Arguments may be
    arrays or `jax.ShapeDtypeStruct`s. Of a plain function all arguments become parameters, used or not.
    Raises StablehloError for what HLO cannot express, naming the line of Python, TypeError for what JAX cannot lower,
    and ImportError without the extra `jax`.
    """
    require_extra()
    stage = _stage(function, args, kwargs)
    module = translated(_tree(stage), "jax")
    module.verify()
    remember(module, stage, len(entry_of(module).function_type.inputs))
    return module


def _stage(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What has the StableHLO: something lowered or exported."""
    import jax
    from jax.extend.source_info_util import register_exclusion

    # This file is no user's frame.
    register_exclusion(__file__)
    kind = type(function).__name__
    if isinstance(function, jax.stages.Compiled):
        raise TypeError("expected a function, or what is traced, lowered or exported of one, found it compiled")
    if isinstance(function, jax.stages.Lowered | jax.export.Exported):
        if args or kwargs:
            raise TypeError(f"expected no arguments beside a {kind}, which has them already")
        return function
    if not hasattr(function, "lower") and not callable(function):
        raise TypeError(f"expected a function, or what is traced, lowered or exported of one, found {kind}")
    stage: Any = function if hasattr(function, "lower") else jax.jit(function, keep_unused=True)
    return stage.lower(*args, **kwargs)


def _tree(stage: Any) -> Any:
    """The module as plain data. JAX's own stays as it is: what is worked on is a copy in a context of ours."""
    from xneuron.formats.stablehlo import decode, mlir

    module = mlir.read(_bytecode(stage), mlir.context())
    mlir.legalise(module)
    return decode.tree(module)


def _bytecode(stage: Any) -> bytes:
    if hasattr(stage, "mlir_module_serialized"):
        return stage.mlir_module_serialized
    written = BytesIO()
    stage.compiler_ir("stablehlo").operation.write_bytecode(written)
    return written.getvalue()
