"""Random loops around collectives, on 2, 4 or 8 participants, some of which a pass must leave alone.

A case says what its text is, who runs it on what, and whether the collective has to leave the loop.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np

from xneuron.dialects.hlo.types import BY_NAME, tensor
from xneuron.interpreters.values import dtype_of

ELEMENTS = ("f32", "bf16", "f16", "f64", "s8", "u16", "s32", "u64", "pred", "c64", "f8e4m3fn")
NUMBERS = ("f32", "bf16", "s8", "u16", "s32", "u64", "f64")
COUNTERS = ("s32", "u32", "s64", "s8")


@dataclass
class Case:
    """`inputs`: for each participant. `moves`: the collective runs once afterwards, in place of `trips` times.

    `code`: the remark that says why it does not.
    """

    text: str
    replicas: int
    partitions: int
    inputs: list[list[Any]]
    trips: int
    moves: bool
    code: str = ""

    @property
    def participants(self) -> int:
        return self.replicas * self.partitions


@dataclass
class World:
    """Who there is, and the attributes of a collective among some of them."""

    replicas: int
    partitions: int
    groups: list[list[int]]
    attributes: str
    group_size: int = field(init=False)

    def __post_init__(self) -> None:
        self.group_size = len(self.groups[0])


def world(random: Random) -> World:
    """Groups of one size in random order, in any of the modes."""
    count = random.choice((2, 4, 8))
    mode = random.choice(("replica", "flattened", "both"))
    partitions = 1 if mode == "replica" else random.choice([n for n in (1, 2, 4) if n <= count])
    replicas = count // partitions
    members = list(range(replicas if mode == "both" else count))
    size = random.choice([n for n in (1, 2, 4, 8) if len(members) % n == 0 and n <= len(members)])
    if random.random() < 0.6:
        random.shuffle(members)
    ids = [members[at : at + size] for at in range(0, len(members), size)]
    listed = ",".join("{" + ",".join(map(str, group)) + "}" for group in ids)
    if len(ids) == 1 and mode != "flattened" and ids[0] == sorted(ids[0]) and random.random() < 0.5:
        listed = ""
    attributes = f"replica_groups={{{listed}}}"
    groups = ids
    if mode == "both":
        groups = [[id * partitions + p for id in group for p in range(partitions)] for group in ids]
    if mode != "replica":
        attributes += ", channel_id=7" + (", use_global_device_ids=true" if mode == "flattened" else "")
    return World(replicas, partitions, groups, attributes)


def shape(element: str, extents: list[int]) -> str:
    return f"{element}[{','.join(map(str, extents))}]"


def values(random: Random, element: str, extents: list[int]) -> Any:
    """Random elements of a type."""
    rng = np.random.default_rng(random.getrandbits(32))
    row, dtype = BY_NAME[element], dtype_of(tensor(BY_NAME[element].type))
    if row.kind in ("pred", "int", "uint"):
        return rng.integers(0, 2 if row.kind == "pred" else 100, extents).astype(dtype)
    if row.kind == "complex":
        return (rng.standard_normal(extents) + 1j * rng.standard_normal(extents)).astype(dtype)
    return rng.standard_normal(extents).astype(dtype)


@dataclass
class Loop:
    """A counted loop under construction: slots with their types, initial values, updates."""

    trips: int
    counter: str
    start: int
    step: int
    slots: list[tuple[str, str, str]] = field(default_factory=list)
    body: list[str] = field(default_factory=list)
    entry: list[str] = field(default_factory=list)
    computations: list[str] = field(default_factory=list)
    marked: bool = False
    whole: bool = False

    def slot(self, type: str, init: str, update: str) -> int:
        """Adds an element of the state; its index (the counter is 0)."""
        self.slots.append((type, init, update))
        return len(self.slots)

    def state(self) -> str:
        return f"({', '.join([f'{self.counter}[]', *(type for type, _, _ in self.slots)])})"

    def text(self, header: str, result: list[str], end: list[str]) -> str:
        """The module; `result`: types of what the entry returns."""
        c, state = self.counter, self.state()
        reads = [f"  v{n} = {type} get-tuple-element(p), index={n}" for n, (type, _, _) in enumerate(self.slots, 1)]
        updates = ", ".join(["next", *(update for _, _, update in self.slots)])
        root = [f"  ROOT t = {state} tuple({updates})"]
        if self.marked:
            call = 'custom-call({}), custom_call_target="NeuronBoundaryMarker-{}", backend_config="boundaryCount=0"'
            root = [
                f"  t = {state} tuple({updates})",
                f"  ms = {state} " + call.format("t", "Start"),
                f"  ROOT me = {state} " + call.format("ms", "End"),
            ]
        inits = ", ".join(["start", *(init for _, init, _ in self.slots)])
        body = [f"  p = {state} parameter(0)", f"  i = {c}[] get-tuple-element(p), index=0", *reads]
        body += [f"  {line}" for line in self.body]
        body += [f"  step = {c}[] constant({self.step})", f"  next = {c}[] add(i, step)", *root]
        cond = [
            f"  p = {state} parameter(0)",
            f"  i = {c}[] get-tuple-element(p), index=0",
            f"  end = {c}[] constant({self.start + self.trips * self.step})",
            "  ROOT c = pred[] compare(i, end), direction=NE",
        ]
        entry = [f"  {line}" for line in self.entry]
        entry += [f"  start = {c}[] constant({self.start})", f"  init = {state} tuple({inits})"]
        entry += [f"  w = {state} while(init), condition=cond, body=body", *(f"  {line}" for line in end)]
        if self.whole:
            result = [state, *result]
        names = [*(["w"] if self.whole else []), *(line.split()[0] for line in end)]
        entry.append(f"  ROOT all = ({', '.join(result)}) tuple({', '.join(names)})")
        parts = [
            *self.computations,
            "body {\n" + "\n".join(body) + "\n}",
            "cond {\n" + "\n".join(cond) + "\n}",
            "ENTRY main {\n" + "\n".join(entry) + "\n}",
        ]
        return f"HloModule case, {header}\n\n" + "\n\n".join(parts) + "\n"


def loop(random: Random) -> Loop:
    counter = random.choice(COUNTERS)
    step = random.choice((1, 1, 2, 3))
    start = random.choice((0, 0, 1, 5)) if counter == "u32" else random.choice((0, 0, -3, 5))
    made = Loop(random.randint(1, 5), counter, start, step)
    made.marked, made.whole = random.random() < 0.25, random.random() < 0.25
    return made


def iteration(made: Loop) -> list[str]:
    """`at`: the number of the iteration, from 0, as s32."""
    c = made.counter
    return [
        f"base = {c}[] constant({made.start})",
        f"off = {c}[] subtract(i, base)",
        f"by = {c}[] constant({made.step})",
        f"quotient = {c}[] divide(off, by)",
        "at = s32[] convert(quotient)",
    ]


def all_of(members: World, random: Random, make: Any) -> list[Any]:
    """One value for all members of a group, another for other groups."""
    found: list[Any] = [None] * (members.replicas * members.partitions)
    for group in members.groups:
        value = make()
        for member in group:
            found[member] = value
    return found


def gather_case(random: Random) -> Case:
    """A loop that gathers a slice of a tensor per iteration, or the whole of it."""
    members, made = world(random), loop(random)
    count, size = members.replicas * members.partitions, members.group_size
    element = random.choice(ELEMENTS)
    inner = [random.randint(1, 3) for _ in range(random.randint(1, 3))]
    dimension = random.randrange(len(inner))
    gathered = [extent * size if at == dimension else extent for at, extent in enumerate(inner)]
    trips, flaw, moves, code = made.trips, random.choice(GATHER_FLAWS), True, ""
    whole = [trips, *inner]
    sliced = random.random() < 0.75
    inputs = [[values(random, element, whole)] for _ in range(count)]
    made.entry.append(f"x = {shape(element, whole)} parameter(0)")
    made.body += iteration(made)
    made.body.append("zero = s32[] constant(0)")
    update = "v1"
    slot_type = shape(element, whole)
    if flaw == "written":
        made.body.append(f"v1.new = {slot_type} reverse(v1), dimensions={{0}}")
        update, moves, code = "v1.new", False, "gather-would-stay" if sliced else "slot-changes"
    made.slot(slot_type, "x", update)
    source = "v1"
    if random.random() < 0.3:
        made.body.append(f"v1.copy = {slot_type} copy(v1)")
        source = "v1.copy"
    if sliced:
        index, extra, differs = index_of(random, made, members, trips, flaw)
        if extra is not None:
            for given, value in zip(inputs, extra, strict=True):
                given.append(value)
        if differs:
            moves, code = False, code or "index-differs"
        made.body.append(slice_of(source, element, inner, starts_of(random, made, index, len(inner))))
        made.body.append(f"q = {shape(element, inner)} reshape(s)")
        made.body += gather(random, element, inner, gathered, dimension, members)
        stacked = gathered
    else:
        operand, to = source, element
        if BY_NAME[element].kind != "complex" and random.random() < 0.4:
            to = "f32"
            made.body.append(f"cv = {shape(to, whole)} convert({source})")
            operand = "cv"
        wide = [trips, *gathered]
        made.body.append(f"q = {shape(to, whole)} copy({operand})")
        made.body += gather(random, to, whole, wide, dimension + 1, members)
        element, stacked = to, wide
    out = [trips, *stacked]
    made.entry += [f"z = {element}[] constant({'false' if element == 'pred' else '(0, 0)' if element == 'c64' else 0})"]
    made.entry.append(f"out = {shape(element, out)} broadcast(z), dimensions={{}}")
    made.body.append(f"row = {shape(element, [1, *stacked])} reshape(g)")
    places = ", ".join(["at"] + ["zero"] * len(stacked))
    at = made.slot(shape(element, out), "out", "stack")
    made.body.append(f"stack = {shape(element, out)} dynamic-update-slice(v{at}, row, {places})")
    result = [shape(element, out)]
    end = [f"r0 = {result[0]} get-tuple-element(w), index={at}"]
    if flaw == "readers" or random.random() < 0.2:  # of the slot, in the loop and behind it: no reason to refuse
        made.body.append(f"other = {slot_type} {'copy(v1)' if slot_type.startswith('pred') else 'add(v1, v1)'}")
        at = made.slot(slot_type, "x", "other")
        result += [slot_type, slot_type]
        end += [f"r{n} = {slot_type} get-tuple-element(w), index={i}" for n, i in ((1, 1), (2, at))]
    header = f"replica_count={members.replicas}, num_partitions={members.partitions}"
    text = made.text(header, result, end)
    return Case(text, members.replicas, members.partitions, inputs, trips, moves, code)


GATHER_FLAWS = ("", "", "", "", "", "written", "own-index", "replica-id", "readers")


def slice_of(source: str, element: str, slab: list[int], starts: str) -> str:
    """`s`: the slab at the start indices."""
    extents = [1, *slab]
    sizes = ",".join(map(str, extents))
    return f"s = {shape(element, extents)} dynamic-slice({source}, {starts}), dynamic_slice_sizes={{{sizes}}}"


def starts_of(random: Random, made: Loop, index: str, rank: int) -> str:
    """Start indices of a slab of a rank: the index and zeros, as scalars or as one vector."""
    if random.random() < 0.75:
        return ", ".join([index, *["zero"] * rank])
    parts = ", ".join(["i1", *["z1"] * rank])
    made.body += [f"i1 = s32[1] reshape({index})", "z1 = s32[1] reshape(zero)"]
    made.body.append(f"iv = s32[{rank + 1}] concatenate({parts}), dimensions={{0}}")
    return "iv"


def computation(name: str, element: str, operation: str) -> str:
    """A reducer."""
    parameters = [f"  {name} = {element}[] parameter({number})" for number, name in enumerate("ab")]
    return "\n".join([f"{name} {{", *parameters, f"  ROOT m = {element}[] {operation}(a, b)", "}"])


def gather(
    random: Random, element: str, before: list[int], after: list[int], dimension: int, members: World
) -> list[str]:
    """`g` from `q`, in one instruction or two."""
    given, result = shape(element, before), shape(element, after)
    attributes = f"{members.attributes}, dimensions={{{dimension}}}"
    if random.random() < 0.7:
        return [f"g = {result} all-gather(q), {attributes}"]
    return [f"gs = ({given}, {result}) all-gather-start(q), {attributes}", f"g = {result} all-gather-done(gs)"]


def index_of(random: Random, made: Loop, members: World, trips: int, flaw: str) -> tuple[str, list[Any] | None, bool]:
    """Name of the index, values of a parameter it needs, and whether it differs within a group."""
    alone = members.group_size == 1
    if flaw == "replica-id":
        made.body.append("rid = u32[] replica-id()")
        made.body.append("mine = s32[] convert(rid)")
        made.body.append("ix = s32[] add(at, mine)")
        return "ix", None, any(len({m // members.partitions for m in group}) > 1 for group in members.groups)
    if flaw == "own-index":
        made.entry.append("ks = s32[3] parameter(1)")
        made.slot("s32[3]", "ks", f"v{len(made.slots) + 1}")
        name = f"v{len(made.slots)}"
        made.body.append(f"k1 = s32[1] dynamic-slice({name}, at), dynamic_slice_sizes={{1}}")
        made.body.append("ix = s32[] reshape(k1)")
        own = [values(random, "s32", [3]) % 5 for _ in range(members.replicas * members.partitions)]
        return "ix", own, not alone
    kind = random.choice(("counter", "shifted", "reversed", "table", "agreed", "shared"))
    if kind == "counter":
        return "at", None, False
    if kind in ("shifted", "reversed"):
        made.body.append(f"c = s32[] constant({random.randint(-3, 3) if kind == 'shifted' else trips - 1})")
        made.body.append(f"ix = s32[] {'add(at, c)' if kind == 'shifted' else 'subtract(c, at)'}")
        return "ix", None, False
    if kind == "table":
        numbers = ", ".join(str(random.randint(-2, 7)) for _ in range(trips))
        made.body.append(f"table = s32[{trips}] constant({{{numbers}}})")
        made.body.append("k1 = s32[1] dynamic-slice(table, at), dynamic_slice_sizes={1}")
        made.body.append("ix = s32[] reshape(k1)")
        return "ix", None, False
    if kind == "shared":
        made.entry.append("k = s32[] parameter(1), sharding={replicated}, parameter_replication={true}")
        made.slot("s32[]", "k", f"v{len(made.slots) + 1}")
        made.body.append(f"ix = s32[] add(at, v{len(made.slots)})")
        same = values(random, "s32", []) % 4
        return "ix", [same] * (members.replicas * members.partitions), False
    made.computations.append(computation("larger", "s32", "maximum"))
    made.entry.append("k = s32[] parameter(1)")
    attributes = members.attributes.replace("channel_id=7", "channel_id=8")
    made.entry.append(f"most = s32[] all-reduce(k), {attributes}, to_apply=larger")
    made.slot("s32[]", "most", f"v{len(made.slots) + 1}")
    made.body.append(f"ix = s32[] subtract(v{len(made.slots)}, at)")
    return "ix", [values(random, "s32", []) % 6 for _ in range(members.replicas * members.partitions)], False


def leaves(value: Any) -> list[Any]:
    """The arrays of a result, tuples taken apart."""
    return [leaf for part in value for leaf in leaves(part)] if isinstance(value, tuple | list) else [value]
