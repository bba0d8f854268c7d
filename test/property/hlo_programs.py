"""Random HLO programs that end: loops, nested and one after another, calls, fusions, conditionals, tuples, collectives.

With a team, collectives join several participants; loops and branches go the same way in all of them, so that
everybody arrives. All values are s32 scalars and vectors of `WIDTH`, so that results compare bit for bit. The same
value is often made twice, carried around unchanged, or packed and taken out again: there is something to do for every
transform.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from random import Random

WIDTH = 4
SCALAR, VECTOR, PRED = "s32[]", f"s32[{WIDTH}]", "pred[]"
TYPES = (SCALAR, VECTOR)
BINARY = ("add", "subtract", "multiply", "maximum", "and")
GROUPS = {
    1: ("{}", "{{0}}", "[1,1]<=[1]"),
    4: ("{}", "{{0,1,2,3}}", "{{0,2},{1,3}}", "[2,2]<=[4]"),
}
SUM = "sum { a = s32[] parameter(0)\n  b = s32[] parameter(1)\n  ROOT s = s32[] add(a, b) }"
LARGEST = "largest { a = s32[] parameter(0)\n  b = s32[] parameter(1)\n  ROOT m = s32[] maximum(a, b) }"


@dataclass(frozen=True)
class Team:
    """Two or four participants: as many replicas, or one replica of as many partitions."""

    members: int
    partitions: bool

    @property
    def header(self) -> str:
        """What the module's header says of it."""
        return f"num_partitions={self.members}" if self.partitions else f"replica_count={self.members}"


def hlo_program(
    random: Random,
    size: int = 12,
    depth: int = 2,
    collectives: bool = True,
    replicas: int = 1,
    team: Team | None = None,
    runtime: bool = False,
) -> str:
    """HLO text of a program with two parameters, a scalar and a vector, that returns a scalar and a vector.

    `size`: statements of a computation. `depth`: how deep loops and calls nest. `replicas`: 1 or 4; with 4,
    conditionals hold no collectives, since replicas may take different branches. `team`: all kinds of collectives, and
    conditionals in which everybody takes the same branch. `runtime`: also loops of which nobody knows in advance how
    often they run.
    """
    text = _Text(random, collectives, replicas, team)
    text.loops = (_while, _while_runtime, _while_data) if runtime else (_while,)
    entry = _Computation(text, depth)
    for number, type in enumerate(TYPES):
        entry.values[type].append(entry.add(type, f"parameter({number})"))
    entry.fill(size)
    entry.add(_tuple_type(TYPES), f"tuple({entry.any(SCALAR)}, {entry.any(VECTOR)})", root=True)
    header = "HloModule random" + (f", replica_count={replicas}" if replicas > 1 else "")
    header += f", {team.header}" if team else ""
    return "\n\n".join(
        [header, SUM, *([LARGEST] if team else []), *text.computations, f"ENTRY main {{\n{entry.text()}\n}}"]
    )


def _tuple_type(types: tuple[str, ...]) -> str:
    return f"({', '.join(types)})"


class _Text:
    """What is written already, and what computations share."""

    def __init__(self, random: Random, collectives: bool, replicas: int, team: Team | None) -> None:
        self.random = random
        self.team = team
        self.channels = count(1)
        self.collectives = collectives
        self.replicas = replicas
        self.computations: list[str] = []
        self.loops: tuple[Statement, ...] = ()
        self.count = 0

    def fresh(self, stem: str) -> str:
        self.count += 1
        return f"{stem}.{self.count}"


class _Computation:
    """One computation: lines so far, and the values there are, by type."""

    def __init__(self, text: _Text, depth: int) -> None:
        self.shared = text
        self.random = text.random
        self.depth = max(0, depth)
        self.lines: list[str] = []
        self.values: dict[str, list[str]] = {SCALAR: [], VECTOR: []}

    def text(self) -> str:
        return "\n".join(self.lines)

    def add(self, type: str, expression: str, root: bool = False) -> str:
        name = self.shared.fresh(expression.split("(")[0])
        self.lines.append(f"  {'ROOT ' if root else ''}{name} = {type} {expression}")
        return name

    def any(self, type: str) -> str:
        """A value of the type, most often one of the last."""
        if not (found := self.values[type]):
            return self.constant(type)
        return found[-1 - min(int(self.random.random() ** 2 * len(found)), len(found) - 1)]

    def constant(self, type: str) -> str:
        value = self.random.randint(-1, 3)
        elements = str(value) if type == SCALAR else f"{{{', '.join([str(value)] * WIDTH)}}}"
        return self.add(type, f"constant({elements})")

    def give(self, type: str, expression: str) -> str:
        self.values[type].append(name := self.add(type, expression))
        return name

    def fill(self, size: int) -> None:
        for _ in range(self.random.randint(2, size)):
            self.random.choice(self._statements())(self)

    def _statements(self) -> tuple[Statement, ...]:
        if self.shared.team:
            return (*(STATEMENTS if self.depth else PLAIN), *[_collective] * 4)
        return STATEMENTS if self.depth else PLAIN

    def define(self, stem: str, types: tuple[str, ...], result: str, nested: int = 1) -> str:
        """Another computation, with a parameter per type and a root of the type `result`. Returns its name."""
        inner = _Computation(self.shared, self.depth - nested)
        for number, type in enumerate(types):
            inner.values[type].append(inner.add(type, f"parameter({number})"))
        inner.fill(5)
        root = inner.any(result)
        inner.add(result, f"add({root}, {inner.any(result)})", root=True)
        return self.close(stem, inner)

    def close(self, stem: str, inner: _Computation) -> str:
        name = self.shared.fresh(stem)
        self.shared.computations.append(f"{name} {{\n{inner.text()}\n}}")
        return name

    def unpack(self, packed: str, types: tuple[str, ...]) -> list[str]:
        return [self.give(type, f"get-tuple-element({packed}), index={index}") for index, type in enumerate(types)]


def _constant(c: _Computation) -> None:
    type = c.random.choice(TYPES)
    c.values[type].append(c.constant(type))


def _binary(c: _Computation) -> None:
    type = c.random.choice(TYPES)
    c.give(type, f"{c.random.choice(BINARY)}({c.any(type)}, {c.any(type)})")


def _twice(c: _Computation) -> None:
    """The same again, in the other order: equal only for some operations."""
    operation, a, b = c.random.choice(BINARY), c.any(VECTOR), c.any(VECTOR)
    c.give(VECTOR, f"{operation}({a}, {b})")
    c.give(VECTOR, f"{operation}({b}, {a})")


def _broadcast(c: _Computation) -> None:
    c.give(VECTOR, f"broadcast({c.any(SCALAR)}), dimensions={{}}")


def _slice(c: _Computation) -> None:
    """One element, at a position that is often a counter."""
    row = c.add("s32[1]", f"dynamic-slice({c.any(VECTOR)}, {c.any(SCALAR)}), dynamic_slice_sizes={{1}}")
    c.give(SCALAR, f"reshape({row})")


def _update(c: _Computation) -> None:
    row = c.add("s32[1]", f"reshape({c.any(SCALAR)})")
    c.give(VECTOR, f"dynamic-update-slice({c.any(VECTOR)}, {row}, {c.any(SCALAR)})")


def _tuple(c: _Computation) -> None:
    """Packed, taken out, often packed again in the same order or another."""
    types = (SCALAR, SCALAR, VECTOR)
    packed = c.add(_tuple_type(types), f"tuple({c.any(SCALAR)}, {c.any(SCALAR)}, {c.any(VECTOR)})")
    first, second, third = c.unpack(packed, types)
    if c.random.random() < 0.5:
        again = c.random.choice(((first, second, third), (second, first, third)))
        c.unpack(c.add(_tuple_type(types), f"tuple({', '.join(again)})"), types)


def _wait(c: _Computation) -> None:
    """An instruction that is ordered after another."""
    c.give(SCALAR, f"negate({c.any(SCALAR)}), control-predecessors={{{c.any(VECTOR)}}}")


def _collective(c: _Computation) -> None:
    if c.shared.team:
        _meeting(c, c.shared.team)
        return
    if not c.shared.collectives:
        return
    channel = c.random.choice(("", f", channel_id={c.random.randint(1, 3)}"))
    groups = c.random.choice(GROUPS[c.shared.replicas])
    c.give(VECTOR, f"all-reduce({c.any(VECTOR)}), replica_groups={groups}{channel}, to_apply=sum")


def _meeting(c: _Computation, team: Team) -> None:
    """A collective of several participants; all that can be expressed with a result as wide as the operand."""
    kind = c.random.choice(("all-gather", "all-reduce", "reduce-scatter", "all-to-all", "collective-permute"))
    value = c.any(VECTOR)
    if kind == "collective-permute":
        others = [(i + 1) % team.members for i in range(team.members)]
        pairs = ",".join(f"{{{a},{b}}}" for a, b in enumerate(others) if c.random.random() < 0.8)
        c.give(VECTOR, f"{kind}({value}), source_target_pairs={{{pairs}}}{_channel(c, team)}")
        return
    groups = c.random.choice(_groups(team.members))
    at, n = f"replica_groups={_spelled(groups)}{_channel(c, team, kind)}", len(groups[0])
    if kind == "all-reduce":
        c.give(VECTOR, f"{kind}({value}), {at}, to_apply={c.random.choice(('sum', 'largest'))}")
    elif kind == "all-to-all":
        c.give(VECTOR, f"{kind}({value}), {at}, dimensions={{0}}")
    elif kind == "all-gather":
        wide = c.add(f"s32[{WIDTH * n}]", f"{kind}({value}), {at}, dimensions={{0}}")
        first = c.random.randint(0, WIDTH * (n - 1))
        c.give(VECTOR, f"slice({wide}), slice={{[{first}:{first + WIDTH}]}}")
    else:
        part = c.add(f"s32[{WIDTH // n}]", f"{kind}({value}), {at}, dimensions={{0}}, to_apply=sum")
        c.give(VECTOR, f"concatenate({', '.join([part] * n)}), dimensions={{0}}")


def _groups(members: int) -> list[list[list[int]]]:
    everyone = [list(range(members))]
    return [everyone, [[0, 1], [2, 3]], [[2, 0], [1, 3]]] if members == 4 else [everyone, [[1, 0]]]


def _spelled(groups: list[list[int]]) -> str:
    return "{" + ",".join(f"{{{','.join(map(str, group))}}}" for group in groups) + "}"


def _channel(c: _Computation, team: Team, kind: str = "") -> str:
    """Attributes with which ids mean the members of the team."""
    has_global_ids = kind in ("all-gather", "all-reduce", "reduce-scatter")
    if team.partitions:
        return f", channel_id={next(c.shared.channels)}" + (", use_global_device_ids=true" if has_global_ids else "")
    return f", channel_id={next(c.shared.channels)}" if has_global_ids and c.random.random() < 0.7 else ""


def _same(c: _Computation, scalar: str) -> str:
    """A scalar that all members of a team agree on."""
    if (team := c.shared.team) is None:
        return scalar
    groups = _spelled(_groups(team.members)[0])
    channel = _channel(c, team, "all-reduce")
    return c.add(SCALAR, f"all-reduce({scalar}), replica_groups={groups}{channel}, to_apply=largest")


def _call(c: _Computation) -> None:
    name = c.define("f", TYPES, VECTOR)
    for _ in range(c.random.randint(1, 2)):
        c.give(VECTOR, f"call({c.any(SCALAR)}, {c.any(VECTOR)}), to_apply={name}")


def _fusion(c: _Computation) -> None:
    """A fusion, and often one more of a computation that is equal or differs in one operation."""
    name, value = c.define("fused", (VECTOR,), VECTOR, nested=2), c.any(VECTOR)
    c.give(VECTOR, f"fusion({value}), kind=kLoop, calls={name}")
    if c.random.random() < 0.5:
        front, _, back = c.shared.computations[-1].removeprefix(name).rpartition(" add(")
        twin = c.shared.fresh("twin")
        c.shared.computations.append(f"{twin}{front} {c.random.choice(('add', 'subtract'))}({back}")
        c.give(VECTOR, f"fusion({value}), kind=kLoop, calls={twin}")


def _conditional(c: _Computation) -> None:
    zero, value = c.add(SCALAR, "constant(0)"), c.any(VECTOR)
    chosen = c.add(PRED, f"compare({_same(c, c.any(SCALAR))}, {zero}), direction=LT")
    before, c.shared.collectives = c.shared.collectives, c.shared.collectives and c.shared.replicas == 1
    branches = f"true_computation={c.define('then', (VECTOR,), VECTOR)}, "
    branches += f"false_computation={c.define('else', (VECTOR,), VECTOR)}"
    c.shared.collectives = before
    c.give(VECTOR, f"conditional({chosen}, {value}, {value}), {branches}")


def _loop(c: _Computation) -> None:
    """A loop of one of the kinds that the program may have."""
    loops = c.shared.loops
    (loops[0] if len(loops) == 1 else c.random.choice(loops))(c)


def _while(c: _Computation) -> None:
    """A counted loop. Slots: the counter, one that is handed on, one of each type that changes, one more vector."""
    slots = (SCALAR, SCALAR, SCALAR, VECTOR, VECTOR)
    state = _tuple_type(slots)
    first, step = c.random.randint(-2, 2), c.random.randint(1, 3)
    start, kept = c.add(SCALAR, f"constant({first})"), c.random.choice((c.constant(SCALAR), c.any(SCALAR)))
    body, condition = _body(c, slots, step), _condition(c, state, first + c.random.randint(-1, 4) * step)
    init = c.add(state, f"tuple({start}, {kept}, {c.any(SCALAR)}, {c.any(VECTOR)}, {c.any(VECTOR)})")
    loop = c.add(state, f"while({init}), condition={condition}, body={body}")
    c.unpack(loop, slots)


def _while_runtime(c: _Computation) -> None:
    """A counted loop whose bound, start or both are computed from values that only a run knows."""
    slots = (SCALAR, SCALAR, SCALAR, VECTOR, VECTOR)
    state, rising = _tuple_type(slots), c.random.random() < 0.6
    step = c.random.choice((1, 1, 2, 3)) * (1 if rising else -1)
    start = _small(c) if c.random.random() < 0.5 else c.constant(SCALAR)
    if c.random.random() < 0.2:  # `!=` ends only where the counter meets the bound
        step, relation = 1 if rising else -1, "NE"
        bound = c.add(SCALAR, f"{'add' if rising else 'subtract'}({start}, {_small(c)})")
    else:
        relation = c.random.choice(("LT", "LE") if rising else ("GT", "GE"))
        bound = _small(c)
    body, condition = _body(c, slots, step), _condition_on_slot(c, state, relation)
    init = c.add(state, f"tuple({start}, {bound}, {c.any(SCALAR)}, {c.any(VECTOR)}, {c.any(VECTOR)})")
    c.unpack(c.add(state, f"while({init}), condition={condition}, body={body}"), slots)


def _small(c: _Computation) -> str:
    """A number from 0 to 7 that nobody knows in advance."""
    return c.add(SCALAR, f"and({c.any(SCALAR)}, {c.add(SCALAR, 'constant(7)')})")


def _condition_on_slot(c: _Computation, state: str, relation: str) -> str:
    """The counter compared with the second slot, in either order."""
    inner = _Computation(c.shared, 0)
    parameter = inner.add(state, "parameter(0)")
    counter = inner.add(SCALAR, f"get-tuple-element({parameter}), index=0")
    bound = inner.add(SCALAR, f"get-tuple-element({parameter}), index=1")
    if c.random.random() < 0.3:
        counter, bound, relation = bound, counter, relation.translate(str.maketrans("LG", "GL"))
    inner.add(PRED, f"compare({counter}, {bound}), direction={relation}", root=True)
    return c.close("condition", inner)


def _while_data(c: _Computation) -> None:
    """A loop that goes on until a number has been halved away, or for a few iterations of something else."""
    slots = (SCALAR, SCALAR, SCALAR, VECTOR, VECTOR)
    state = _tuple_type(slots)
    inner = _Computation(c.shared, c.depth - 1)
    first, kept, *_ = inner.unpack(inner.add(state, "parameter(0)"), slots)
    inner.fill(8)
    half = inner.add(SCALAR, f"shift-right-logical({first}, {inner.add(SCALAR, 'constant(2)')})")
    values = [half, kept, inner.any(SCALAR), inner.any(VECTOR), inner.any(VECTOR)]
    inner.add(state, f"tuple({', '.join(values)})", root=True)
    body = c.close("body", inner)
    test = _Computation(c.shared, 0)
    left = test.add(SCALAR, f"get-tuple-element({test.add(state, 'parameter(0)')}), index=0")
    test.add(PRED, f"compare({left}, {test.add(SCALAR, 'constant(0)')}), direction=NE", root=True)
    condition = c.close("condition", test)
    init = c.add(state, f"tuple({c.any(SCALAR)}, {c.any(SCALAR)}, {c.any(SCALAR)}, {c.any(VECTOR)}, {c.any(VECTOR)})")
    c.unpack(c.add(state, f"while({init}), condition={condition}, body={body}"), slots)


def _body(c: _Computation, slots: tuple[str, ...], step: int) -> str:
    inner = _Computation(c.shared, c.depth - 1)
    parameter = inner.add(_tuple_type(slots), "parameter(0)")
    counter, kept, *_ = inner.unpack(parameter, slots)
    inner.fill(8)
    by = inner.add(SCALAR, f"constant({step})")
    following = inner.add(SCALAR, f"add({counter}, {by})")
    values = [following, kept, inner.any(SCALAR), inner.any(VECTOR), inner.any(VECTOR)]
    inner.add(_tuple_type(slots), f"tuple({', '.join(values)})", root=True)
    return c.close("body", inner)


def _condition(c: _Computation, state: str, bound: int) -> str:
    inner = _Computation(c.shared, 0)
    parameter = inner.add(state, "parameter(0)")
    counter = inner.add(SCALAR, f"get-tuple-element({parameter}), index=0")
    inner.add(PRED, f"compare({counter}, {inner.add(SCALAR, f'constant({bound})')}), direction=LT", root=True)
    return c.close("condition", inner)


Statement = Callable[[_Computation], None]
PLAIN: tuple[Statement, ...] = (_constant, _binary, _binary, _twice, _broadcast, _slice, _update, _tuple, _wait)
STATEMENTS: tuple[Statement, ...] = (*PLAIN, _collective, _call, _fusion, _conditional, _loop, _loop)
