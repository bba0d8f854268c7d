"""Windows at starts given at run time: clamped as HLO says, from registers or induction variables, in place."""

import lowered
import numpy as np
import pytest
from xdsl.ir import Operation

X = np.arange(3 * 5 * 7, dtype=np.float32).reshape(3, 5, 7)


def instructions(text: str, name: str) -> list[Operation]:
    return [op for op in lowered.function_of(lowered.lowered(text)).walk() if op.name == name]


def entry(*lines: str) -> str:
    return "HloModule m\nENTRY e {\n" + "\n".join(lines) + "\n}"


def sliced(kind: str) -> str:
    return entry(
        "a = f32[3,5,7] parameter(0)",
        *(f"{n} = {kind}[] parameter({k})" for k, n in enumerate("ijk", 1)),
        "ROOT r = f32[2,1,4] dynamic-slice(a, i, j, k), dynamic_slice_sizes={2,1,4}",
    )


def updated(kind: str) -> str:
    return entry(
        "a = f32[3,5,7] parameter(0)",
        "u = f32[2,1,4] parameter(1)",
        *(f"{n} = {kind}[] parameter({k})" for k, n in enumerate("ijk", 2)),
        "ROOT r = f32[3,5,7] dynamic-update-slice(a, u, i, j, k)",
    )


TYPES = {
    "s8": [-128, -1, 0, 1, 2, 127],
    "u8": [0, 1, 3, 255],
    "s16": [-(2**15), 2, 2**15 - 1],
    "s32": [-(2**31), -1, 0, 1, 3, 2**31 - 1],
    "u32": [0, 2, 2**31, 2**32 - 1],
    "s64": [-(2**63), -(2**32), -(2**31) - 1, -1, 2, 2**31, 2**32, 2**32 + 1, 2**63 - 1],
    "u64": [0, 1, 2**32, 2**63, 2**64 - 1],
}
DTYPES = {kind: np.dtype(("int" if kind[0] == "s" else "uint") + kind[1:]) for kind in TYPES}


@pytest.mark.parametrize("kind", TYPES)
def test_starts_of_any_integer_type_are_clamped(kind: str) -> None:
    module = lowered.module_of(sliced(kind))
    update = -np.ones((2, 1, 4), np.float32)
    for number, value in enumerate(TYPES[kind]):
        starts = [DTYPES[kind].type(v) for v in (value, 1, value)]
        lowered.agree(module, X, *starts)
        if number % 2:
            lowered.agree(updated(kind), X, update, *starts)


def test_a_start_is_where_numpy_says() -> None:
    (found,) = lowered.agree(sliced("s32"), X, np.int32(1), np.int32(9), np.int32(-3))
    assert np.array_equal(found, X[1:3, 4:5, 0:4])


@pytest.mark.parametrize("kind", ["s32", "u64"])
def test_one_vector_of_starts(kind: str) -> None:
    text = entry(
        "a = f32[3,5,7] parameter(0)",
        f"i = {kind}[3] parameter(1)",
        "ROOT r = f32[2,1,4] dynamic-slice(a, i), dynamic_slice_sizes={2,1,4}",
    )
    starts = np.array([1, 3, 9], DTYPES[kind])
    assert np.array_equal(lowered.agree(text, X, starts)[0], X[1:3, 3:4, 3:7])


def test_constant_starts_are_clamped_now() -> None:
    text = entry(
        "a = f32[3,5,7] parameter(0)",
        "i = s32[] constant(9)",
        "j = s32[] constant(-2)",
        "ROOT r = f32[2,1,7] dynamic-slice(a, i, j, j), dynamic_slice_sizes={2,1,7}",
    )
    assert np.array_equal(lowered.agree(text, X)[0], X[1:3, 0:1])
    assert not instructions(text, "bir.register_alu")


def test_a_computed_scalar_in_an_array_of_one() -> None:
    text = entry(
        "a = f32[1] parameter(0)",
        "u = f32[1] parameter(1)",
        "i = s32[] parameter(2)",
        "d = f32[1] dynamic-update-slice(a, u, i)",
        "s = f32[1] dynamic-slice(d, i), dynamic_slice_sizes={1}",
        "ROOT r = f32[1] add(s, d)",
    )
    assert lowered.agree(text, np.float32([1]), np.float32([3]), np.int32(5))[0] == 6


def test_the_operand_survives_an_update_while_it_is_needed() -> None:
    text = entry(
        "p = f32[3,5,7] parameter(0)",
        "a = f32[3,5,7] add(p, p)",
        "i = s32[] parameter(1)",
        "u = f32[1,5,7] dynamic-slice(a, i, i, i), dynamic_slice_sizes={1,5,7}",
        "z = s32[] constant(0)",
        "b = f32[3,5,7] dynamic-update-slice(a, u, z, z, z)",
        "c = f32[3,5,7] dynamic-update-slice(b, u, i, z, z)",
        "ROOT r = (f32[3,5,7], f32[3,5,7], f32[3,5,7]) tuple(a, b, c)",
    )
    lowered.agree(text, X, np.int32(2))


def test_an_update_of_the_operand_by_a_part_of_itself() -> None:
    text = entry(
        "p = f32[9] parameter(0)",
        "i = s32[] parameter(1)",
        "a = f32[9] add(p, p)",
        "u = f32[6] slice(a), slice={[0:6]}",
        "ROOT b = f32[9] dynamic-update-slice(a, u, i)",
    )
    lowered.agree(text, np.arange(9, dtype=np.float32), np.int32(1))


def loop(state: str, body: list[str], trips: str, *, init: str, parameters: list[str], root: str = "w") -> str:
    """A loop whose slot 0 counts from 0 to `trips` (an instruction)."""
    return f"""HloModule m
    cond {{ p = {state} parameter(0)
      i = s32[] get-tuple-element(p), index=0
      n = s32[] {trips}
      ROOT c = pred[] compare(i, n), direction=LT }}
    body {{ p = {state} parameter(0)
      i = s32[] get-tuple-element(p), index=0
      one = s32[] constant(1)
      zero = s32[] constant(0)
      next = s32[] add(i, one)
      {chr(10).join(body)} }}
    ENTRY e {{ {chr(10).join(parameters)}
      zero = s32[] constant(0)
      t = {state} tuple({init})
      ROOT w = {state} while(t), condition=cond, body=body }}"""


def rows(trips: str) -> str:
    """Row i becomes row i of x plus row i of y, in place."""
    state = "(s32[], f32[11,13], f32[11,13], s32[])"
    return loop(
        state,
        [
            "x = f32[11,13] get-tuple-element(p), index=1",
            "y = f32[11,13] get-tuple-element(p), index=2",
            "m = s32[] get-tuple-element(p), index=3",
            "a = f32[1,13] dynamic-slice(x, i, zero), dynamic_slice_sizes={1,13}",
            "b = f32[1,13] dynamic-slice(y, i, zero), dynamic_slice_sizes={1,13}",
            "s = f32[1,13] add(a, b)",
            "x2 = f32[11,13] dynamic-update-slice(x, s, i, zero)",
            f"ROOT t = {state} tuple(next, x2, y, m)",
        ],
        trips,
        init="zero, x, y, m",
        parameters=["x = f32[11,13] parameter(0)", "y = f32[11,13] parameter(1)", "m = s32[] parameter(2)"],
    )


@pytest.mark.parametrize("trips", ["constant(11)", "constant(14)", "get-tuple-element(p), index=3"])
def test_rows_one_by_one(trips: str) -> None:
    x, y = (np.arange(11 * 13, dtype=np.float32).reshape(11, 13) * k for k in (1, 100))
    lowered.agree(rows(trips), x, y, np.int32(7))


def test_an_update_in_a_loop_moves_the_window_only() -> None:
    """No instruction of the body touches more than a row, and the induction variable is the offset."""
    (found,) = instructions(rows("constant(11)"), "bir.loop")
    body = list(found.walk())[1:]
    assert {op.name for op in body} == {"bir.load", "bir.tensor_tensor", "bir.save", "bir.tensor_scalar"}
    accesses = [access for op in body for access in (*op.inputs, *op.outputs)]
    assert max(np.prod(access.nums) for access in accesses) == 13


def test_two_updates_of_one_buffer() -> None:
    state = "(s32[], f32[12])"
    text = loop(
        state,
        [
            "x = f32[12] get-tuple-element(p), index=1",
            "a = f32[1] dynamic-slice(x, i), dynamic_slice_sizes={1}",
            "x2 = f32[12] dynamic-update-slice(x, a, next)",
            "b = f32[2] dynamic-slice(x, next), dynamic_slice_sizes={2}",
            "c = f32[2] add(b, b)",
            "x3 = f32[12] dynamic-update-slice(x2, c, i)",
            f"ROOT t = {state} tuple(next, x3)",
        ],
        "constant(9)",
        init="zero, x",
        parameters=["x = f32[12] parameter(0)"],
    )
    lowered.agree(text, np.arange(12, dtype=np.float32))
