"""Control-flow graphs: dominators, back edges, the four topology rules, natural loops."""

import pytest

from xneuron.analysis.cfg import CFG, TopologyError


def graph(edges: str, nodes: str = "") -> CFG[str]:
    """`graph("ab bc cb")`: letters are nodes, pairs are edges, a is the entry."""
    pairs = [(edge[0], edge[1]) for edge in edges.split()]
    return CFG(sorted({letter for pair in pairs for letter in pair} | set(nodes)), pairs)


def test_dominators_of_a_diamond() -> None:
    cfg = graph("ab ac bd cd de")
    assert cfg.immediate_dominators == {"a": "a", "b": "a", "c": "a", "d": "a", "e": "d"}
    assert cfg.dominates("a", "e")
    assert cfg.dominates("d", "d")
    assert not cfg.dominates("b", "d")


def test_dominators_agree_with_removal() -> None:
    cfg = graph("ab ac bd cd dc de ef eb fg ge")
    for above in cfg.nodes:
        reached, work = set(), ["a"] if above != "a" else []
        while work:
            if (node := work.pop()) not in reached and node != above:
                reached.add(node)
                work += cfg.successors[node]
        for below in cfg.nodes:
            assert cfg.dominates(above, below) == (below not in reached or above == below)


def test_back_edges() -> None:
    cfg = graph("ab bc cb bd")
    assert dict(cfg.back_edges) == {"b": "c"}
    assert cfg.is_back_edge("c", "b")
    assert not cfg.is_back_edge("a", "b")
    assert not cfg.is_back_edge("b", "c")
    cfg.validate_topology()


@pytest.mark.parametrize(
    ("edges", "line", "message"),
    [
        ("ab bc dc", 418, r"error\[418\]: d cannot be reached from the entry"),
        ("ab bc cb db bd dc ce", 419, "is a second back edge beside"),
        ("ab bc cb bd db be", 419, r"backEdgeAssertCondition: d -> b is a second back edge beside c"),
        ("ab ac bc cb bd", 419, r"backEdgeAssertCondition: c -> b enters a loop that has another entry"),
        ("ab ba bc", 420, "the entry a has a predecessor"),
        ("ab bc cb", 420, "no block exits"),
    ],
)
def test_topology_rules(edges: str, line: int, message: str) -> None:
    with pytest.raises(TopologyError, match=message) as caught:
        graph(edges).validate_topology()
    assert caught.value.line == line
    assert caught.value.tag == ("backEdgeAssertCondition" if line == 419 else None)


def test_edges_must_be_listed_at_both_ends() -> None:
    cfg = graph("ab bc")
    cfg.predecessors["c"].clear()
    with pytest.raises(TopologyError, match=r"error\[417\]: b -> c is listed at one end only") as caught:
        cfg.validate_topology()
    assert caught.value.line == 417


def test_natural_loops_of_a_nest() -> None:
    # a; b heads the outer loop, d the middle one, e is a loop of its own; g is a second loop in b.
    cfg = graph("ab bc cd de ee ef fd fg gh hg hi ib ij")
    cfg.validate_topology()
    loops = {loop.header: loop for loop in cfg.natural_loops()}
    assert {h: (loop.latch, "".join(sorted(loop.nodes)), loop.depth) for h, loop in loops.items()} == {
        "b": ("i", "bcdefghi", 1),
        "d": ("f", "def", 2),
        "e": ("e", "e", 3),
        "g": ("h", "gh", 2),
    }
    assert loops["e"].parent is loops["d"]
    assert loops["g"].parent is loops["b"]
    assert loops["b"].children == [loops["d"], loops["g"]]


def test_nests_of_any_depth() -> None:
    depth = 600
    headers, latches = range(depth), range(2 * depth - 1, depth - 1, -1)
    edges = [(node, node + 1) for node in range(-1, 2 * depth)]
    edges += list(zip(latches, headers, strict=True))
    cfg = CFG(range(-1, 2 * depth + 1), edges)
    cfg.validate_topology()
    assert max(loop.depth for loop in cfg.natural_loops()) == depth
