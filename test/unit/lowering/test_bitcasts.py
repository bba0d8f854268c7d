"""A bitcast keeps bytes: a reshape between descending layouts, a transpose between others, other types of one width."""

import lowered
import numpy as np
import pytest

X = np.arange(2 * 3 * 5, dtype=np.float32).reshape(2, 3, 5)


def program(operand: str, result: str) -> str:
    return f"HloModule m\nENTRY e {{ x = {operand} parameter(0)\n ROOT r = {result} bitcast(x) }}"


@pytest.mark.parametrize(
    ("operand", "result"),
    [
        ("f32[2,3,5]", "f32[6,5]{1,0}"),
        ("f32[2,3,5]{2,1,0}", "f32[5,2,3]{0,2,1}"),
        ("f32[2,3,5]{0,1,2}", "f32[5,3,2]"),
        ("f32[2,3,5]{0,2,1}", "f32[10,3]{0,1}"),
        ("f32[2,3,5]{1,0,2}", "f32[3,10]{0,1}"),
        ("f32[2,3,5]{0,2,1}", "f32[2,3,5]{2,0,1}"),
    ],
)
def test_layouts_say_which_element_is_which(operand: str, result: str) -> None:
    lowered.agree(program(operand, result), X)


def test_layouts_of_extents_of_one_say_nothing() -> None:
    text = program("f32[1,3,5]{0,2,1}", "f32[3,5,1]{1,0,2}")
    lowered.agree(text, X[:1])
    assert not [op for op in lowered.function_of(lowered.lowered(text)).walk() if op.name == "bir.memory_location"][2:]


def test_another_type() -> None:
    (found,) = lowered.agree(program("f32[2,3,5]", "s32[30]"), X)
    assert np.array_equal(found, X.reshape(-1).view(np.int32))


def test_another_type_in_another_order_is_refused() -> None:
    with pytest.raises(Exception, match="cannot lower bitcast 'r' to BIR: it reorders elements by their layouts, and"):
        lowered.lowered(program("f32[2,3]", "s32[2,3]{0,1}"))


def test_the_bits_of_halves_in_a_computation_are_refused() -> None:
    text = """HloModule m
    f { x = f16[] parameter(0)
      y = f16[] parameter(1)
      b = s16[] bitcast-convert(y)
      c = f16[] convert(b)
      ROOT r = f16[] add(x, c) }
    ENTRY e { a = f16[4] parameter(0)
      i = f16[] constant(1)
      ROOT sums = f16[] reduce(a, i), dimensions={0}, to_apply=f }"""
    with pytest.raises(Exception, match="cannot lower reduce 'sums' to BIR: its computation has 'b': no instruction"):
        lowered.lowered(text)
