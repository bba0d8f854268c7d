"""Random loops that reduce and stack, on 2, 4 or 8 participants, some of which a pass must leave alone."""

from __future__ import annotations

from random import Random

from property.collective_loops import (
    NUMBERS,
    Case,
    Loop,
    computation,
    iteration,
    loop,
    shape,
    slice_of,
    starts_of,
    values,
    world,
)


def reduction_case(random: Random) -> Case:
    """A loop that reduces and stacks one slab per iteration."""
    members, made = world(random), loop(random)
    count, size, trips = members.replicas * members.partitions, members.group_size, made.trips
    element, scatters = random.choice(NUMBERS), random.random() < 0.6
    reduced = [random.randint(1, 3) for _ in range(random.randint(1, 3))]
    dimension = random.randrange(len(reduced))
    given = [extent * size if scatters and at == dimension else extent for at, extent in enumerate(reduced)]
    stack, data = [trips, *reduced], [trips, *given]
    inputs = [[values(random, element, data), values(random, element, stack)] for _ in range(count)]
    flaw = random.choice(REDUCTION_FLAWS)
    operation = random.choice(("add", "maximum", "minimum", "multiply"))
    e = element
    made.computations.append(computation("op", e, operation))
    made.entry += [f"x = {shape(e, data)} parameter(0)", f"old = {shape(e, stack)} parameter(1)"]
    made.slot(shape(e, data), "x", "v1")
    update, code = "d", ""
    made.body += [*iteration(made), "zero = s32[] constant(0)"]
    made.body.append(slice_of("v1", e, given, ", ".join(["at", *["zero"] * len(given)])))
    made.body.append(f"q = {shape(e, given)} reshape(s)")
    scattered = f", dimensions={{{dimension}}}" if scatters else ""
    opcode = "reduce-scatter" if scatters else "all-reduce"
    made.body.append(f"g = {shape(e, reduced)} {opcode}(q), {members.attributes}{scattered}, to_apply=op")
    made.body.append(f"u = {shape(e, [1, *reduced])} reshape(g)")
    index = stack_index(random, made, trips, flaw)
    if flaw in ("clamped", "replica-id"):
        covered = trips == 1
        code = "" if covered and flaw == "clamped" else "slabs-not-covered"
    starts = starts_of(random, made, index, len(reduced))
    made.body.append(f"d = {shape(e, stack)} dynamic-update-slice(v2, u, {starts})")
    made.slot(shape(e, stack), "old", update)
    end = [f"r0 = {shape(e, stack)} get-tuple-element(w), index=2"]
    result = [shape(e, stack)]
    if flaw == "read":
        made.body.append(f"seen = {shape(e, stack)} copy(v2)")
        made.slot(shape(e, stack), "old", "seen")
        end.append(f"r1 = {shape(e, stack)} get-tuple-element(w), index=3")
        result.append(result[0])
        code = "stack-is-read"
    if flaw == "used":
        made.slot(shape(e, reduced), "first", "g")
        made.entry.append(f"z0 = {e}[] constant(0)")
        made.entry.append(f"first = {shape(e, reduced)} broadcast(z0), dimensions={{}}")
        code = "reduction-not-stacked"
    header = f"replica_count={members.replicas}, num_partitions={members.partitions}"
    text = made.text(header, result, end)
    return Case(text, members.replicas, members.partitions, inputs, trips, not code, code)


REDUCTION_FLAWS = ("", "", "", "", "", "clamped", "replica-id", "read", "used")


def stack_index(random: Random, made: Loop, trips: int, flaw: str) -> str:
    if flaw == "replica-id":
        made.body += ["rid = u32[] replica-id()", "mine = s32[] convert(rid)", "ix = s32[] add(at, mine)"]
        return "ix"
    if flaw == "clamped":
        made.body += ["c = s32[] constant(1)", "ix = s32[] add(at, c)"]
        return "ix"
    kind = random.choice(("counter", "reversed", "rotated", "table"))
    if kind == "counter":
        return "at"
    if kind == "reversed":
        made.body += [f"c = s32[] constant({trips - 1})", "ix = s32[] subtract(c, at)"]
    elif kind == "rotated":
        made.body += [f"c = s32[] constant({random.randint(0, 4)})", "further = s32[] add(at, c)"]
        made.body += [f"n = s32[] constant({trips})", "ix = s32[] remainder(further, n)"]
    else:
        order = random.sample(range(trips), trips)
        made.body.append(f"table = s32[{trips}] constant({{{', '.join(map(str, order))}}})")
        made.body += ["k1 = s32[1] dynamic-slice(table, at), dynamic_slice_sizes={1}", "ix = s32[] reshape(k1)"]
    return "ix"
