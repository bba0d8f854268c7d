"""Functions of floats: those that the Activation engine has, and some that follow from them.

What follows is chosen so that nothing cancels: each result is within a few units in the last place of float32, close to
zeros and poles, too.
"""

from __future__ import annotations

from xneuron.dialects.bir.enums import ActivationFunctionType, AluOpType
from xneuron.dialects.hlo import elementwise as hlo

from .computations import Lowering
from .elementwise import apply, sign, stepwise
from .rules import lowers
from .tiles import Chip, Operand, Tile
from .values import Splat, Tree

_ACTIVATIONS: dict[type[hlo.UnaryOp], ActivationFunctionType] = {
    hlo.ExponentialOp: ActivationFunctionType.Exp,
    hlo.LogOp: ActivationFunctionType.Ln,
    hlo.TanhOp: ActivationFunctionType.Tanh,
    hlo.LogisticOp: ActivationFunctionType.Sigmoid,
    hlo.SqrtOp: ActivationFunctionType.Sqrt,
    hlo.RsqrtOp: ActivationFunctionType.Rsqrt,
    hlo.ErfOp: ActivationFunctionType.Erf,
    hlo.SineOp: ActivationFunctionType.Sin,
}
"""The engine's own functions."""
FINITE = 3.4028234663852886e38
"""The largest float32."""


@lowers(*_ACTIVATIONS, in_place=None)
def function(low: Lowering, op: hlo.UnaryOp) -> Tree:
    """The engine's own function."""
    activation = _ACTIVATIONS[type(op)]

    def steps(tile: Tile, out: Chip, x: Operand) -> None:
        tile.activation(activation, out, x)

    return apply(low, op, steps)


@stepwise(hlo.ExponentialMinusOneOp)
def exp_minus_one(tile: Tile, out: Chip, x: Operand) -> None:
    """`tanh(x / 2) * (exp(x) + 1)`."""
    x = tile.chip(x)
    half = tile.activation(ActivationFunctionType.Tanh, tile.wide(x), x, scale=0.5)
    power = tile.activation(ActivationFunctionType.Exp, tile.wide(x), x)
    tile.alu(AluOpType.add, power, power, 1.0)
    tile.alu(AluOpType.mult, out, half, power)


@stepwise(hlo.LogPlusOneOp)
def log_plus_one(tile: Tile, out: Chip, x: Operand) -> None:
    """`log(u) * x / (u - 1)` where `u = 1 + x` as rounded: what rounding lost is in both; `x` where `u` is 1."""
    x = tile.chip(x)
    moved = tile.alu(AluOpType.add, tile.wide(x), x, 1.0)
    log = tile.activation(ActivationFunctionType.Ln, tile.wide(x), moved)
    # Infinity by infinity would be NaN.
    tile.twice(moved, moved, (AluOpType.subtract, 1.0), (AluOpType.min, FINITE))
    ratio = tile.alu(AluOpType.divide, tile.wide(x), x, moved)
    tile.alu(AluOpType.mult, log, log, ratio)
    tile.select(out, moved, log, x)


@stepwise(hlo.CoshOp)
def hyperbolic_cosine(tile: Tile, out: Chip, x: Operand) -> None:
    """`(exp(x) + exp(-x)) / 2`, each as a square, so that it does not overflow before the result does."""
    x = tile.chip(x)
    halves = [_half_exponential(tile, x, scale) for scale in (0.5, -0.5)]
    tile.alu(AluOpType.add, out, *halves)


def _half_exponential(tile: Tile, x: Chip, scale: float) -> Chip:
    """`exp(2 * scale * x) / 2`."""
    root = tile.activation(ActivationFunctionType.Exp, tile.wide(x), x, scale=scale)
    half = tile.alu(AluOpType.mult, tile.wide(x), root, 0.5)
    return tile.alu(AluOpType.mult, half, half, root)


@stepwise(hlo.SinhOp)
def hyperbolic_sine(tile: Tile, out: Chip, x: Operand) -> None:
    """`tanh(x) * cosh(x)`."""
    x = tile.chip(x)
    wide = tile.wide(x)
    hyperbolic_cosine(tile, wide, x)
    tanh = tile.activation(ActivationFunctionType.Tanh, tile.wide(x), x)
    tile.alu(AluOpType.mult, out, tanh, wide)


@stepwise(hlo.CbrtOp)
def cube_root(tile: Tile, out: Chip, x: Operand) -> None:
    """`|x|` to the power 1/3, and a step of Newton's, which is left out where it has no value: at 0 and infinity."""
    x = tile.chip(x)
    magnitude = tile.alu(AluOpType.abs, tile.wide(x), x)
    root = tile.alu(AluOpType.pow, tile.wide(x), magnitude, 1 / 3)
    # x / root^3 is 1 but for the error, of which the root has a third.
    for _ in range(3):
        tile.alu(AluOpType.divide, magnitude, magnitude, root)
    tile.twice(magnitude, magnitude, (AluOpType.subtract, 1.0), (AluOpType.mult, 1 / 3))
    tile.alu(AluOpType.mult, magnitude, magnitude, root)
    has_value = tile.alu(AluOpType.is_equal, tile.wide(x), magnitude, magnitude)
    tile.alu(AluOpType.add, magnitude, magnitude, root)
    tile.select(root, has_value, magnitude, root)
    sign(tile, magnitude, x)
    tile.alu(AluOpType.mult, out, root, magnitude)


@stepwise(hlo.RealOp)
def real_part(tile: Tile, out: Chip, x: Operand) -> None:
    """Of a real number, itself."""
    tile.copy(out, x)


@stepwise(hlo.ImagOp)
def imaginary_part(tile: Tile, out: Chip, x: Operand) -> None:
    """Of a real number, zero."""
    tile.copy(out, Splat(0.0, out.dtype, 1))
