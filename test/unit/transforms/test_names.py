"""Fresh names, as XLA's uniquer numbers them."""

from xneuron.transforms.names import Names


def test_free_name_is_taken_as_it_is():
    assert Names([]).fresh("f") == "f"


def test_numbers_pass_names_in_use_by():
    names = Names(["f", "f.2"])
    assert [names.fresh("f") for _ in range(3)] == ["f.1", "f.3", "f.4"]


def test_a_given_name_is_in_use():
    names = Names(["f"])
    assert [names.fresh("f.1"), names.fresh("f"), names.fresh("f.1")] == ["f.1", "f.2", "f.1.1"]
