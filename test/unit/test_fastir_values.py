"""The quick ways around xDSL's constructors give what the public ways give."""

import gc

from xdsl.dialects.builtin import DictionaryAttr, FileLineColLoc, IntAttr, StringAttr, f32, i32
from xdsl.ir import Block

from xneuron.fastir import collector_off, data_attribute, file_location, operands_of, rename, retype


def test_locations_equal_xdsl_ones() -> None:
    quick, public = (
        file_location(StringAttr("a.hlo"), 3, 17),
        FileLineColLoc(StringAttr("a.hlo"), IntAttr(3), IntAttr(17)),
    )
    assert quick == public
    assert hash(quick) == hash(public)
    assert str(quick) == str(public)


def test_attributes_around_a_value_equal_xdsl_ones() -> None:
    for public in (StringAttr("text"), DictionaryAttr({"a": StringAttr("b")})):
        quick = data_attribute(type(public), public.data)
        assert quick == public
        assert hash(quick) == hash(public)
        assert str(quick) == str(public)


def test_names_and_types_are_set_as_they_are() -> None:
    (value,) = Block(arg_types=[f32]).args
    rename(value, "add_12")
    retype(value, i32)
    assert value.name_hint == "add_12"
    assert value.type == i32


def test_operands_are_those_of_the_op() -> None:
    from xdsl.dialects.arith import AddfOp

    a, b = Block(arg_types=[f32, f32]).args
    op = AddfOp(a, b)
    assert operands_of(op) == tuple(op.operands)


def test_the_collector_is_off_inside_and_as_before_outside() -> None:
    assert gc.isenabled()
    with collector_off():
        assert not gc.isenabled()
        with collector_off():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_what_was_made_with_the_collector_off_is_still_collected() -> None:
    class Node:
        alive = 0

        def __init__(self) -> None:
            self.me = self
            Node.alive += 1

        def __del__(self) -> None:
            Node.alive -= 1

    with collector_off():
        for _ in range(10):
            Node()
    assert Node.alive == 10
    gc.collect()
    assert Node.alive == 0
