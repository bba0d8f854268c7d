"""Basic blocks as nested Python loops with guards, whatever the graph.

A *level* is a region, or one loop of it. Without the edges back to its header a level has no way round but its inner
loops; each of those is one node. So its nodes have an order in which every jump inside the level goes forward, and one
pass over them, in which a node is skipped unless it is the pending target, runs them right. A jump to the header is
`continue`, one out of the loop is `break`. An irreducible loop is a level whose first nodes may be skipped too: nothing
is special about it.

Where a node is the only target that can be pending it needs no guard, and jumps to it need not say where they go: the
loops and branches that structured programs lower to become Python loops without any.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

Node: TypeAlias = Hashable
Successors: TypeAlias = Callable[[Node], Sequence[Node]]


@dataclass(eq=False)
class Level:
    """`nodes` in order; `header` is where its Python loop starts again, None for a region that is no loop."""

    header: Node | None
    entries: list[Node]
    nodes: list[Node | Level]
    exits: list[Node] = field(default_factory=list[Node])
    """Targets outside, other than the header."""
    position: dict[Node, int] = field(default_factory=dict[Node, int])
    """The node in which each block inside is, at any depth."""
    guards_before: list[int] = field(default_factory=lambda: [0])
    """How many of the first n nodes have a guard."""

    def is_guarded(self, number: int) -> bool:
        """Whether the node must ask if it is the one that is meant."""
        return self.guards_before[number + 1] > self.guards_before[number]

    def says_where(self, source: int, target: Node) -> bool:
        """Whether a jump from the node numbered `source` (-1: from the top) must name its target."""
        end = self.position[target]
        guards = self.guards_before[end + 1] - self.guards_before[source + 1]
        return guards > 0 or len(entries_of(self.nodes[end])) > 1


def entries_of(node: Node | Level) -> list[Node]:
    """The blocks at which a node may be entered."""
    return node.entries if isinstance(node, Level) else [node]


def build(
    blocks: Sequence[Node], entries: Sequence[Node], header: Node | None, successors: Successors, last: Node = None
) -> Level:
    """The level of those blocks, in program order; `last`, a block without successors, comes last."""
    inside = dict.fromkeys(blocks)
    after = {block: [s for s in successors(block) if s in inside and s != header] for block in blocks}
    before: dict[Node, list[Node]] = {block: [] for block in blocks}
    for block in blocks:
        for successor in after[block]:
            before[successor].append(block)
    order = {block: number for number, block in enumerate(blocks)}
    nodes: list[Node | Level] = []
    for component in components(entries, after.__getitem__):
        members = sorted(component, key=order.__getitem__)
        if len(members) == 1 and members[0] not in after[members[0]]:
            nodes.append(members[0])
            continue
        ways_in = [b for b in members if b in entries or any(p not in component for p in before[b])]
        nodes.append(build(members, ways_in, ways_in[0], successors))
    # Nothing leads to the header any more, and nothing away from `last`: they may go to the ends.
    for end, place in ((header, 0), (last, len(nodes))):
        if end in inside and end in nodes:
            nodes.remove(end)
            nodes.insert(place, end)
    return _finish(Level(header, list(entries), nodes), successors)


def _finish(level: Level, successors: Successors) -> Level:
    for number, node in enumerate(level.nodes):
        for block in blocks_of(node):
            level.position[block] = number
    targets = dict.fromkeys(t for block in level.position for t in successors(block))
    level.exits = [t for t in targets if t not in level.position and t != level.header]
    pending = {*level.entries} | ({level.header} & level.position.keys())
    for node in level.nodes:
        skipped = not pending <= set(entries_of(node))
        level.guards_before.append(level.guards_before[-1] + skipped)
        pending -= set(entries_of(node))
        jumps = node.exits if isinstance(node, Level) else successors(node)
        pending |= {t for t in jumps if t in level.position and t != level.header}
    return level


def blocks_of(node: Node | Level) -> Iterable[Node]:
    """The blocks of a node, at any depth."""
    if not isinstance(node, Level):
        return [node]
    return [block for inner in node.nodes for block in blocks_of(inner)]


def components(roots: Iterable[Node], successors: Callable[[Node], Sequence[Node]]) -> list[set[Node]]:
    """The strongly connected components reached from the roots, each before those it leads to (Tarjan)."""
    found: list[set[Node]] = []
    number: dict[Node, int] = {}
    lowest: dict[Node, int] = {}
    open_nodes: list[Node] = []
    closed: set[Node] = set()
    for root in roots:
        work = [] if root in number else [(root, iter(successors(root)))]
        if work:
            number[root] = lowest[root] = len(number)
            open_nodes.append(root)
        while work:
            node, rest = work[-1]
            following = next(rest, None)
            if following is None:
                work.pop()
                if work:
                    lowest[work[-1][0]] = min(lowest[work[-1][0]], lowest[node])
                if lowest[node] == number[node]:
                    found.append(_closed(node, open_nodes))
                    closed |= found[-1]
            elif following not in number:
                number[following] = lowest[following] = len(number)
                open_nodes.append(following)
                work.append((following, iter(successors(following))))
            elif following not in closed:
                lowest[node] = min(lowest[node], number[following])
    return found[::-1]


def _closed(root: Node, open_nodes: list[Node]) -> set[Node]:
    component: set[Node] = set()
    while root not in component:
        component.add(open_nodes.pop())
    return component
