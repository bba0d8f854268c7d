"""Rolled and unrolled programs compute the same bits: random bodies, nested loops, calls, any counter."""

from dataclasses import dataclass, field

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from xneuron.analysis.verification import verify_module
from xneuron.dialects.hlo.control_flow import WhileOp
from xneuron.formats.hlo_text.parser import parse_hlo
from xneuron.interpreters.evaluator import Program
from xneuron.remarks import collect
from xneuron.transforms.hlo_dce import drop_unused_functions
from xneuron.transforms.unroll_while_loop import UnrollWhileLoop
from xneuron.transforms.waiting_loops import MARK as WAITING
from xneuron.transforms.while_loop_unroller import WhileLoopUnroller

STATE = "(s32[], f32[3], s32[3])"
OPS = {"f32[3]": ["add", "subtract", "multiply", "maximum"], "s32[3]": ["add", "subtract", "multiply", "xor"]}


@dataclass
class Writer:
    """Collects computations, callees first; `body` draws one and returns its name."""

    draw: st.DrawFn
    computations: list[str] = field(default_factory=list)

    def body(self, depth: int) -> str:
        """Three slots: a counter, floats, integers. Each loop adds `step` to its counter."""
        draw = self.draw
        lines = [
            f"p = {STATE} parameter(0)",
            "i = s32[] get-tuple-element(p), index=0",
            "v.0 = f32[3] get-tuple-element(p), index=1",
            "w.0 = s32[3] get-tuple-element(p), index=2",
            "b = s32[3] broadcast(i), dimensions={}",
            "c = f32[3] convert(b)",
        ]
        values = {"f32[3]": ["v.0", "c"], "s32[3]": ["w.0", "b"]}
        for number in range(draw(st.integers(1, 5))):
            type = draw(st.sampled_from(sorted(OPS)))
            pick = st.sampled_from(values[type])
            if depth and draw(st.integers(0, 3)) == 0:
                lines += self.inner(
                    number, depth, draw(st.sampled_from(values["f32[3]"])), draw(st.sampled_from(values["s32[3]"]))
                )
                values["f32[3]"].append(f"lv.{number}")
                values["s32[3]"].append(f"lw.{number}")
                continue
            line = f"{draw(st.sampled_from(OPS[type]))}({draw(pick)}, {draw(pick)})"
            lines.append(f"x.{number} = {type} {line}")
            values[type].append(f"x.{number}")
        lines += [
            f"k = s32[] constant({draw(st.sampled_from([1, 2, 3]))})",
            "n = s32[] add(i, k)",
            f"ROOT t = {STATE} tuple(n, {values['f32[3]'][-1]}, {values['s32[3]'][-1]})",
        ]
        return self.computation("body", *lines)

    def computation(self, kind: str, *lines: str) -> str:
        name = f"{kind}.{len(self.computations)}"
        self.computations.append("\n".join([f"{name} {{", *lines, "}"]))
        return name

    def inner(self, number: int, depth: int, floats: str, integers: str) -> list[str]:
        """A loop inside a body; sometimes it counts from the outer counter, then each copy has a count of its own."""
        start = self.draw(st.sampled_from([f"s.{number}", f"s.{number}", "i"]))
        return [
            f"s.{number} = s32[] constant({self.draw(st.integers(-3, 4))})",
            f"t.{number} = {STATE} tuple({start}, {floats}, {integers})",
            self.loop(f"l.{number}", f"t.{number}", depth - 1),
            f"lv.{number} = f32[3] get-tuple-element(l.{number}), index=1",
            f"lw.{number} = s32[3] get-tuple-element(l.{number}), index=2",
        ]

    def loop(self, name: str, operand: str, depth: int) -> str:
        """The instruction: a while, or a call of a function that is one."""
        body = self.body(depth)
        cond = self.computation(
            "cond",
            f"p = {STATE} parameter(0)",
            "i = s32[] get-tuple-element(p), index=0",
            f"b = s32[] constant({self.draw(st.integers(0, 5))})",
            "ROOT c = pred[] compare(i, b), direction=LT",
        )
        loop = f"{STATE} while({operand}), condition={cond}, body={body}"
        if self.draw(st.booleans()):
            return f"{name} = {loop}"
        function = self.computation("outlined", f"{operand} = {STATE} parameter(0)", f"ROOT r = {loop}")
        return f"{name} = {STATE} call({operand}), to_apply={function}"


@st.composite
def programs(draw: st.DrawFn) -> str:
    writer = Writer(draw)
    loop = writer.loop("outer", "t", 2)
    main = [
        "ENTRY main {",
        "v = f32[3] parameter(0)",
        "w = s32[3] parameter(1)",
        "z = s32[] constant(0)",
        f"t = {STATE} tuple(z, v, w)",
        loop,
        f"ROOT r = {STATE} copy(outer)",
        "}",
    ]
    return "\n\n".join(["HloModule random", *writer.computations, "\n".join(main)])


def outputs(module: ModuleOp) -> list[bytes]:
    inputs = np.array([1.5, -2, 0.25], np.float32), np.array([3, -7, 2**30], np.int32)
    return [np.asarray(value).tobytes() for value in Program(module).run(*inputs)]


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(programs())
def test_rolled_and_unrolled_agree(text: str) -> None:
    """All bounds are constants or outer counters: no loop that can run is left, unless it became too large."""
    module = parse_hlo(text)
    with collect() as remarks:
        UnrollWhileLoop(max_instructions=20_000).apply(Context(), module)
    module.verify()
    assert outputs(module) == outputs(parse_hlo(text))
    assert WAITING not in str(module)
    drop_unused_functions(module)  # what was called by loops that never run
    missed = {remark.code for remark in remarks if remark.kind == "missed"}
    assert ("max-instructions" in missed) == any(isinstance(op, WhileOp) for op in module.walk())


@settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(programs(), st.sampled_from([-1, 2, 3]), st.booleans())
def test_copies_in_one_computation_agree(text: str, factor: int, wrap: bool) -> None:
    """The same for `while_loop_unroller`."""
    module = parse_hlo(text)
    unroller = WhileLoopUnroller(max_total_instructions=10_000, unroll_factor=factor, wrap_in_trivial_loop=wrap)
    unroller.apply(Context(), module)
    verify_module(module)
    assert outputs(module) == outputs(parse_hlo(text))
    assert WAITING not in str(module)
