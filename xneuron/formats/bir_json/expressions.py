"""Index expressions as JSON (reference `bir.md`, section c).

Version 2 is a tree of objects with a `kind`; version 1, which is read only, is one affine expression over loop
axes with at most one operation around it: `{terms: [{AxisLabel, coef}], c, op, op_param}`.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import Block, SSAValue
from xdsl.utils.exceptions import VerifyException

from xneuron.dialects.bir import expressions as ex
from xneuron.dialects.bir.expressions import Affine, Expr, ExprKind, Ref
from xneuron.dialects.bir.loops import AxisLoop
from xneuron.dialects.bir.storage import RegisterOp
from xneuron.formats.bir_json.document import JSON, Fields, Node, Object
from xneuron.formats.bir_json.scope import Scope


def read_expr(node: Node, scope: Scope) -> Expr:
    """An expression in the encoding of the document's version."""
    fields = node.fields()
    expr = _read_old(fields, scope) if scope.version == 1 else _read(fields, scope)
    fields.end()
    return expr


def _read(fields: Fields, scope: Scope) -> Expr:
    kind = fields.need("kind")
    if (read := _READERS.get(kind.text())) is None:
        kind.error(f"Walrus doesn't support this kind of Expr: {kind.text()}")
    return read(fields, scope)


def _read_affine(fields: Fields, scope: Scope) -> Expr:
    terms = tuple(_read_term(term, scope) for term in fields.need("terms").items())
    return Affine(terms, fields.need("c").integer())


def _read_term(node: Node, scope: Scope) -> tuple[Expr, int]:
    fields = node.fields()
    place = fields.need("idx")
    idx = read_expr(place, scope)
    if not idx.kind.is_index:
        place.error(f"expected an index in an affine term but got {idx.kind.name}")
    coeff = fields.need("coeff").integer()
    fields.end()
    return idx, coeff


def _read_sum(fields: Fields, scope: Scope) -> Expr:
    terms = tuple(read_expr(term, scope) for term in fields.need("terms").items())
    if (count := fields.need("n_terms")).integer() != len(terms):
        count.error(f"Number of terms don't match: n_terms is {count.value}, terms has {len(terms)}")
    return ex.Sum(terms)


def _read_ccdiv(fields: Fields, scope: Scope) -> Expr:
    numer = read_expr(fields.need("numer"), scope)
    return ex.CCDiv(numer, fields.need("denom").integer(1), fields.need("replica_groups_id").integer(0))


_READERS: dict[str, Callable[[Fields, Scope], Expr]] = {
    "AffExprKind": _read_affine,
    "SumKind": _read_sum,
    "MultKind": lambda f, scope: ex.Mult(read_expr(f.need("var"), scope), f.need("scale").integer()),
    "FloorDivKind": lambda f, scope: ex.FloorDiv(read_expr(f.need("numer"), scope), f.need("denom").integer()),
    "ModuloKind": lambda f, scope: ex.Modulo(read_expr(f.need("numer"), scope), f.need("denom").integer()),
    "CCModKind": lambda f, scope: ex.Modulo(read_expr(f.need("numer"), scope), f.need("denom").integer()),
    "CCDivKind": _read_ccdiv,
    "CCGetRankKind": lambda f, _: ex.CCGetRank(f.need("iteration_id").integer(0), f.need("channel_id").integer(0)),
    "IndirectArgId": lambda f, _: ex.IndirectArg(f.need("arg_id").integer(0)),
    "AffIVKind": lambda f, scope: ex.AffineIV(scope.axis(f.need("axis"))),
    "IntRuntimeValueKind": lambda f, scope: ex.RuntimeValue(scope.register(f.need("regref"))),
    "ShardIDKind": lambda f, _: ex.ShardID(f.need("ub").integer()),
}


def _read_old(fields: Fields, scope: Scope) -> Expr:
    if (kind := fields.take("kind")) is not None:
        kind.error("Pelican Expr should be in V1 format: registers and kinds need version 2")
    terms = tuple(_read_old_term(term, scope) for term in fields.need("terms").items())
    affine = Affine(terms, fields.need("c").integer())
    if (op := fields.take("op")) is None:
        return affine
    match op.text():
        case "Div":
            return ex.FloorDiv(affine, fields.need("op_param").integer())
        case "Mod":
            return ex.Modulo(affine, fields.need("op_param").integer())
        case "IndirectArgId":
            return ex.IndirectArg(fields.need("op_param").integer(0))
        case other:
            op.error(f"Walrus doesn't support this kind of Expr: {other}")


def _read_old_term(node: Node, scope: Scope) -> tuple[Expr, int]:
    fields = node.fields()
    term = ex.AffineIV(scope.axis(fields.need("AxisLabel"))), fields.need("coef").integer()
    fields.end()
    return term


def write_expr(expr: Expr) -> JSON:
    """The version 2 encoding. Raises VerifyException for what has none."""
    if expr.kind in (ExprKind.APIndex, ExprKind.TiledAPIndex, ExprKind.SymbolicIdx):
        raise VerifyException(f"Unsupported expression kind: {expr.kind.name}")
    return {"kind": expr.kind.name, **_members(expr)}


def _members(expr: Expr) -> Object:
    match expr:
        case Affine(terms, c):
            return {"terms": [{"idx": write_expr(idx), "coeff": coeff} for idx, coeff in terms], "c": c}
        case ex.Sum(terms):
            return {"n_terms": len(terms), "terms": [write_expr(term) for term in terms]}
        case ex.Mult(var, scale):
            return {"var": write_expr(var), "scale": scale}
        case ex.FloorDiv(numer, denom) | ex.Modulo(numer, denom):
            return {"numer": write_expr(numer), "denom": denom}
        case ex.CCDiv(numer, denom, groups):
            return {"numer": write_expr(numer), "denom": denom, "replica_groups_id": groups}
        case ex.CCGetRank(iteration, channel):
            return {"iteration_id": iteration, "channel_id": channel}
        case ex.IndirectArg(arg_id):
            return {"arg_id": arg_id}
        case ex.AffineIV(value):
            return {"axis": axis_name(value)}
        case ex.RuntimeValue(value):
            return {"regref": register_name(value)}
        case ex.ShardID(ub):
            return {"ub": ub}
        case ex.NamedIndex():
            raise AssertionError("has no wire form")


def axis_name(ref: Ref) -> str:
    """The name of the axis that an induction variable belongs to."""
    loop = ref.owner.parent_op() if isinstance(ref, SSAValue) and isinstance(ref.owner, Block) else None
    if not isinstance(loop, AxisLoop):
        raise VerifyException("expected the induction variable of a loop")
    return loop.axis_name.data


def register_name(ref: Ref) -> str:
    """The name of a register."""
    if not isinstance(ref, SSAValue) or not isinstance(ref.owner, RegisterOp):
        raise VerifyException("expected a register of this function")
    return ref.owner.label
