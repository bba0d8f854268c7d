"""Who owns a buffer, when it is free, where spares come from."""

from itertools import count

from xneuron.execution.buffers import Buffers


def test_a_dead_buffer_is_taken_once():
    buffers = Buffers()
    buffers.own("a", "f32[4]")
    assert buffers.take("f32[4]") is None
    assert buffers.release("a")
    assert buffers.take("f32[8]") is None
    assert buffers.take("f32[4]") == "a"
    assert buffers.take("f32[4]") is None


def test_what_others_hold_is_never_free():
    buffers = Buffers()
    buffers.own("a", "k")
    buffers.share("a")
    assert buffers.key("a") is None
    assert not buffers.release("a")
    assert buffers.take("k") is None


def test_views_keep_a_buffer_alive():
    buffers = Buffers()
    buffers.own("a", "k")
    buffers.borrow("view", ["a"])
    buffers.borrow("view of view", ["view"])
    assert buffers.key("a") is None
    buffers.release("a")
    buffers.release("view")
    assert buffers.take("k") is None
    buffers.release("view of view")
    assert buffers.take("k") == "a"


def test_a_view_that_others_hold():
    buffers = Buffers()
    buffers.own("a", "k")
    buffers.borrow("view", ["a"])
    buffers.share("view")
    buffers.release("a")
    assert buffers.take("k") is None


def test_a_dead_view_gives_the_owner_back():
    buffers = Buffers()
    buffers.own("a", "k")
    buffers.borrow("view", ["a"])
    buffers.release("view")
    assert buffers.key("a") == "k"


def test_spares_come_from_what_is_free_at_the_end():
    names = count()
    buffers = Buffers(lambda: f"spare{next(names)}")
    assert buffers.take("k") == "spare0"
    assert buffers.take("k") == "spare1"
    buffers.own("a", "k")
    buffers.own("b", "other")
    buffers.release("a")
    buffers.release("b")
    assert buffers.restock() == {"spare0": "a", "spare1": None}
    assert buffers.free == ["b"]


def test_an_unused_spare_stays_where_it_is():
    buffers = Buffers(lambda: "spare")
    assert buffers.take("k") == "spare"
    buffers.own("a", "k")
    buffers.own("spare", "k")
    buffers.release("a")
    buffers.release("spare")
    assert buffers.restock() == {"spare": "spare"}
    assert buffers.free == ["a"]
