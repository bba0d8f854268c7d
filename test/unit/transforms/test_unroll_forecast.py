"""Forecasts are what the unrollers then do."""

from pathlib import Path

import pytest
from xdsl.context import Context
from xdsl.parser import Parser
from xdsl.passes import ModulePass
from xdsl.universe import Universe

from xneuron.formats.hlo_text.parser import parse_hlo
from xneuron.remarks import collect
from xneuron.transforms.unroll_forecast import forecast_calls, forecast_copies, forecasts
from xneuron.transforms.unroll_while_loop import UnrollWhileLoop
from xneuron.transforms.while_loop_unroller import WhileLoopUnroller

ROOT = Path(__file__).parents[3]
PROGRAMS = (
    *("examples/decoder.hlo", "examples/fsdp.hlo"),
    *(
        f"test/corpus/{name}.before.hlo"
        for name in ("nested_three", "fori_zero_trips", "fori_one_trip", "count_shifts", "fori_traced", "called_twice")
    ),
)
ABOUT_MODULES = ("canonicalized", "loops-collected", "boundary-markers")


def said(text: str, unroller: ModulePass) -> dict[str, tuple[str, str, object]]:
    """What the pass says of each loop when it runs: kind, code, and the number of instructions that come out."""
    with collect() as remarks:
        unroller.apply(Context(), parse_hlo(text))
    return {
        remark.loop: (remark.kind, remark.code, remark.facts.get("ops_after"))
        for remark in reversed(remarks)
        if remark.pass_name == unroller.name and remark.code not in ABOUT_MODULES
    }


@pytest.mark.parametrize("file", PROGRAMS)
def test_the_passes_do_what_was_forecast(file: str) -> None:
    text = (ROOT / file).read_text()
    module = parse_hlo(text)
    before = str(module)
    for name, forecast in forecasts(module).items():
        unroller = UnrollWhileLoop() if name == UnrollWhileLoop.name else WhileLoopUnroller()
        expected = said(text, unroller)
        assert {r.loop: (r.kind, r.code, r.facts.get("ops_after")) for r in forecast.values()} == expected
    assert str(module) == before


@pytest.mark.parametrize("limit", [40, 60, 80, 81, 90, 200, 300])
def test_budgets_of_nests(limit: int) -> None:
    """The outer body is measured with its inner loop unrolled, in calls and in copies."""
    text = (ROOT / "test/corpus/nested_static.before.hlo").read_text()
    for unroller, forecast in (
        (UnrollWhileLoop(max_instructions=limit), forecast_calls),
        (WhileLoopUnroller(max_total_instructions=limit), forecast_copies),
    ):
        found = forecast(parse_hlo(text), unroller)  # pyright: ignore[reportArgumentType]
        expected = said(text, unroller)
        assert {r.loop: (r.kind, r.code, r.facts.get("ops_after")) for r in found.values()} == expected


def test_a_loop_without_results() -> None:
    """Several operands, or none, are not HLO's normal form."""
    text = (ROOT / "test/filecheck/transforms/tuple-while-operands.mlir").read_text()
    ctx = Context()
    for name, dialect in Universe.get_multiverse().all_dialects.items():
        ctx.register_dialect(name, dialect)
    found = forecasts(Parser(ctx, text).parse_module())
    assert {said.code for said in found["unroll-while-loop"].values()} >= {"several-operands"}
