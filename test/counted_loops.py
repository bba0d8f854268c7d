"""Programs with loops to be counted, and short ways to ask for counts."""

from xneuron.analysis.trip_count import TripCount, trip_count
from xneuron.dialects.hlo.control_flow import WhileOp
from xneuron.formats.hlo_text.parser import parse_hlo


def loops(text: str) -> dict[str, WhileOp]:
    """The program's loops by name."""
    found = [op for op in parse_hlo(text).walk() if isinstance(op, WhileOp)]
    return {str(loop.results[0].name_hint): loop for loop in found}


def count(text: str, name: str = "while", limit: int = 128) -> int | str:
    """The count of a loop, or the reason against one."""
    found = trip_count(loops(text)[name], limit)
    return found.count if isinstance(found, TripCount) else found.reason


def simple(
    type: str = "s32",
    init: object = 0,
    direction: str = "LT",
    bound: object = 10,
    step: object = 1,
    body: str = "",
    cond: str = "",
    start: str = "",
    more: str = "",
) -> str:
    """A loop over (counter, f32); `body`, `cond` and `start` replace lines that compute %n, %c and %i0."""
    state = f"({type}[], f32[])"
    return f"""HloModule simple
{more}
body {{
  p = {state} parameter(0)
  i = {type}[] get-tuple-element(p), index=0
  x = f32[] get-tuple-element(p), index=1
  k = {type}[] constant({step})
  {body or f"n = {type}[] add(i, k)"}
  ROOT r = {state} tuple(n, x)
}}
cond {{
  p = {state} parameter(0)
  i = {type}[] get-tuple-element(p), index=0
  b = {type}[] constant({bound})
  {cond or f"ROOT c = pred[] compare(i, b), direction={direction}"}
}}
ENTRY main {{
  x0 = f32[] parameter(0)
  {start or f"i0 = {type}[] constant({init})"}
  t = {state} tuple(i0, x0)
  ROOT while = {state} while(t), condition=cond, body=body
}}
"""


def nested(bound_of_inner: str, initial_bound: str = "s32[] constant(4)") -> str:
    """An outer loop over (i, n) of 3 trips, around an inner loop over (j, m) while j < m."""
    return f"""HloModule nested
inner_body {{
  p = (s32[], s32[]) parameter(0)
  j = s32[] get-tuple-element(p), index=0
  m = s32[] get-tuple-element(p), index=1
  o = s32[] constant(1)
  n = s32[] add(j, o)
  ROOT r = (s32[], s32[]) tuple(n, m)
}}
inner_cond {{
  p = (s32[], s32[]) parameter(0)
  j = s32[] get-tuple-element(p), index=0
  m = s32[] get-tuple-element(p), index=1
  ROOT c = pred[] compare(j, m), direction=LT
}}
outer_body {{
  p = (s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] get-tuple-element(p), index=1
  z = s32[] constant(0)
  t = (s32[], s32[]) tuple(z, {bound_of_inner})
  inner = (s32[], s32[]) while(t), condition=inner_cond, body=inner_body
  m = s32[] get-tuple-element(inner), index=1
  o = s32[] constant(1)
  i1 = s32[] add(i, o)
  ROOT r = (s32[], s32[]) tuple(i1, n)
}}
outer_cond {{
  p = (s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  b = s32[] constant(3)
  ROOT c = pred[] compare(i, b), direction=LT
}}
ENTRY main {{
  a = s32[] parameter(0)
  i0 = s32[] constant(0)
  n0 = {initial_bound}
  t = (s32[], s32[]) tuple(i0, n0)
  ROOT outer = (s32[], s32[]) while(t), condition=outer_cond, body=outer_body
}}
"""
