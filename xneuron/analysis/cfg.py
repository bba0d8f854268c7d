"""Control-flow graphs: dominators, recorded back edges, natural loops, and the topology rules of BIR.

A graph is over any hashable node, so that tests can build ill-formed ones and so that it serves blocks
and the segments of `flow.py` alike. One back edge is recorded per loop header: a header with two latches
cannot be represented, which `validate_topology` reports (reference `bir.md`, section f).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Generic, TypeVar

from xdsl.ir import Block, Region

Node = TypeVar("Node", bound=Hashable)


class TopologyError(Exception):
    """A broken rule of `validate_topology`: the reference's assertion line and, where public, its tag."""

    def __init__(self, line: int, message: str, tag: str | None = None):
        shown = f"Assertion failure: {tag}: {message}" if tag else message
        super().__init__(f"error[{line}]: {shown}")
        self.line = line
        self.tag = tag


@dataclass(eq=False)
class NaturalLoop(Generic[Node]):
    """The blocks that reach `latch` without passing `header`, and the header."""

    header: Node
    latch: Node
    nodes: frozenset[Node]
    parent: NaturalLoop[Node] | None = None
    depth: int = 1
    """1 for an outermost loop."""
    children: list[NaturalLoop[Node]] = field(default_factory=list["NaturalLoop[Node]"])


class CFG(Generic[Node]):
    """Nodes in program order, the first is the entry; edges both ways; one back edge per header."""

    def __init__(self, nodes: Iterable[Node], edges: Iterable[tuple[Node, Node]]):
        self.nodes = list(nodes)
        self.successors: dict[Node, list[Node]] = {node: [] for node in self.nodes}
        self.predecessors: dict[Node, list[Node]] = {node: [] for node in self.nodes}
        for source, target in edges:
            self.successors[source].append(target)
            self.predecessors[target].append(source)

    @staticmethod
    def of_region(region: Region) -> CFG[Block]:
        """The graph of a region's blocks; loops inside a block are not looked into."""
        blocks = list(region.blocks)
        return CFG(blocks, [(b, s) for b in blocks if b.last_op for s in b.last_op.successors])

    @property
    def entry(self) -> Node:
        return self.nodes[0]

    @property
    def edges(self) -> list[tuple[Node, Node]]:
        return [(source, target) for source in self.nodes for target in self.successors[source]]

    @cached_property
    def order(self) -> dict[Node, int]:
        """Reverse post-order number of every node that the entry reaches."""
        finished: list[Node] = []
        seen = {self.entry}
        stack = [(self.entry, iter(self.successors[self.entry]))]
        while stack:
            node, rest = stack[-1]
            following = next((successor for successor in rest if successor not in seen), None)
            if following is None:
                finished.append(node)
                stack.pop()
            else:
                seen.add(following)
                stack.append((following, iter(self.successors[following])))
        return {node: number for number, node in enumerate(reversed(finished))}

    @cached_property
    def immediate_dominators(self) -> Mapping[Node, Node]:
        """The closest strict dominator of every reached node; the entry is its own."""
        # Cooper, Harvey and Kennedy: intersect along the tree built so far until nothing changes.
        idom = {self.entry: self.entry}
        changed = True
        while changed:
            changed = False
            for node in list(self.order)[1:]:
                known = [p for p in self.predecessors[node] if p in idom]
                best = known[0]
                for other in known[1:]:
                    best = self._meet(idom, best, other)
                if node not in idom or idom[node] != best:
                    idom[node] = best
                    changed = True
        return idom

    def _meet(self, idom: Mapping[Node, Node], left: Node, right: Node) -> Node:
        while left != right:
            while self.order[left] > self.order[right]:
                left = idom[left]
            while self.order[right] > self.order[left]:
                right = idom[right]
        return left

    @cached_property
    def _dominated(self) -> Mapping[Node, tuple[int, int]]:
        """Pre-order numbers in the dominator tree: a node's own, and the last below it."""
        children: dict[Node, list[Node]] = {node: [] for node in self.order}
        for node, above in self.immediate_dominators.items():
            if node != self.entry:
                children[above].append(node)
        first: dict[Node, int] = {}
        last: dict[Node, int] = {}
        stack = [self.entry]
        while stack:
            node = stack[-1]
            if node not in first:
                first[node] = len(first)
                stack.extend(children[node])
            elif stack.pop() not in last:
                last[node] = len(first) - 1
        return {node: (first[node], last[node]) for node in first}

    def dominates(self, above: Node, below: Node) -> bool:
        """Whether every path from the entry to `below` passes `above`."""
        first, last = self._dominated[above]
        return first <= self._dominated[below][0] <= last

    @cached_property
    def backward_edges(self) -> list[tuple[Node, Node]]:
        """Edges against the topological order, in program order of their sources."""
        return [
            (source, target)
            for source, target in self.edges
            if source in self.order and self.order[target] <= self.order[source]
        ]

    @cached_property
    def back_edges(self) -> Mapping[Node, Node]:
        """Loop header to its one recorded latch, in order of discovery: the first wins."""
        found: dict[Node, Node] = {}
        for source, target in self.backward_edges:
            found.setdefault(target, source)
        return found

    def is_back_edge(self, source: Node, target: Node) -> bool:
        """Whether `source` is exactly the latch recorded for `target`."""
        return target in self.back_edges and self.back_edges[target] == source

    def validate_topology(self) -> None:
        """Raises TopologyError on the first broken rule.

        419 has the reference's tag; its predicate and the other three rules are ours, since only the
        lines are public: 417 edges are listed at both ends, 418 every block is reached, 419 an edge that
        goes backward is the recorded back edge of a header that dominates its source, 420 nothing
        precedes the entry and something exits.
        """
        self._check_mutual_edges()
        self._check_reached()
        self._check_back_edges()
        self._check_entry_and_exit()

    def _check_mutual_edges(self) -> None:
        backward = [(s, t) for t in self.nodes for s in self.predecessors[t]]
        odd = set(self.edges) ^ set(backward)
        for source, target in (edge for edge in (*self.edges, *backward) if edge in odd):
            raise TopologyError(417, f"{name(source)} -> {name(target)} is listed at one end only")

    def _check_reached(self) -> None:
        for node in self.nodes:
            if node not in self.order:
                raise TopologyError(418, f"{name(node)} cannot be reached from the entry")

    def _check_back_edges(self) -> None:
        tag = "backEdgeAssertCondition"
        for source, target in self.backward_edges:
            edge = f"{name(source)} -> {name(target)}"
            if not self.dominates(target, source):
                raise TopologyError(419, f"{edge} enters a loop that has another entry", tag)
            if not self.is_back_edge(source, target):
                recorded = name(self.back_edges[target])
                raise TopologyError(419, f"{edge} is a second back edge beside {recorded}", tag)

    def _check_entry_and_exit(self) -> None:
        if self.predecessors[self.entry]:
            raise TopologyError(420, f"the entry {name(self.entry)} has a predecessor")
        if all(self.successors[node] for node in self.nodes):
            raise TopologyError(420, "no block exits")

    def natural_loops(self) -> list[NaturalLoop[Node]]:
        """The loops of all recorded back edges, outer before inner, linked into nests."""
        found = [NaturalLoop(h, latch, self._loop_nodes(h, latch)) for h, latch in self.back_edges.items()]
        found.sort(key=lambda loop: (-len(loop.nodes), self.order[loop.header]))
        innermost: dict[Node, NaturalLoop[Node]] = {}
        for loop in found:
            loop.parent = innermost.get(loop.header)
            if loop.parent:
                loop.depth = loop.parent.depth + 1
                loop.parent.children.append(loop)
            innermost.update(dict.fromkeys(loop.nodes, loop))
        return found

    def _loop_nodes(self, header: Node, latch: Node) -> frozenset[Node]:
        nodes = {header}
        work = [latch]
        while work:
            if (node := work.pop()) not in nodes:
                nodes.add(node)
                work.extend(p for p in self.predecessors[node] if p in self.order)
        return frozenset(nodes)


def name(node: Hashable) -> str:
    """A block's label as it prints, or the node's own text."""
    if not isinstance(node, Block):
        return str(node)
    number = node.parent.get_block_index(node) if node.parent else 0
    return f"^{node.name_hint or f'bb{number}'}"
