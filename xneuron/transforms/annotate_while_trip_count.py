"""Pass `annotate-while-trip-count`: writes what is known about a loop's iterations where XLA's back ends look."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, cast

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.passes import ModulePass

from xneuron.analysis.call_graph import CallGraph
from xneuron.analysis.computations import loops
from xneuron.analysis.slices import Slicer
from xneuron.analysis.trip_count import NEVER_EXITS, TripCount, Unknown, facts_of, trip_count
from xneuron.dialects.hlo.attributes import text_of
from xneuron.dialects.hlo.control_flow import WhileOp
from xneuron.remarks import declare, remark

COUNTED = declare("counted", "The loop's number of iterations is known, and its backend_config says so.")
STALE_COUNT = declare("stale-count", "The backend_config gave a number of iterations to a loop that never ends.")
UNVERIFIED = declare("unverified-count", "The backend_config gives a number of iterations that cannot be checked here.")
NOT_JSON = declare(
    "backend-config-not-json", "The loop's backend_config is no JSON object, so nothing can be added to it."
)

COUNT, STEP, VARIABLE = "known_trip_count", "known_init_step", "known_induction_variable"
CONFIG = "backend_config"


@dataclass(frozen=True)
class AnnotateWhileTripCount(ModulePass):
    """Writes each loop's number of iterations, and its counter, into its `backend_config`.

        hlo.while(%t) …    hlo.while(%t) {backend_config = "{"known_trip_count":{"n":"10"},
                                "known_init_step":{"init":"0","step":"1"},"known_induction_variable":{"tuple_index":"0"}}"}

    What else the config holds stays. What an earlier compiler said of the number is not read: a wrong number is
    replaced, and taken out of a loop that never ends; where the number cannot be told here, it is kept, and a remark
    says so (XLA's annotator keeps it too, unless it finds a counter: then it writes the whole config anew).

    Refuses: backend-config-not-json, and each reason for which a count is unknown (`analysis/trip_count.py`).
    `max-trip-count-simulation`: iterations after which a loop without a closed form is given up.
    Keys: xla-semantics.md a.10.
    """

    name = "annotate-while-trip-count"
    max_trip_count_simulation: int = 128

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        slicer = Slicer(CallGraph(op))
        for loop in loops(op):
            _annotate(loop, trip_count(loop, self.max_trip_count_simulation, slicer))


def _annotate(loop: WhileOp, count: TripCount | Unknown) -> None:
    if (config := _read(loop)) is None:
        text = f"expected a JSON object as backend_config, found {text_of(loop.attributes[CONFIG])}"
        remark("missed", AnnotateWhileTripCount.name, NOT_JSON, loop, text)
    elif isinstance(count, TripCount):
        _write(loop, _merged(config, _known(count)))
        remark("analysis", AnnotateWhileTripCount.name, COUNTED, loop, f"runs {count.count} times", **facts_of(count))
    else:
        remark("missed", AnnotateWhileTripCount.name, count.reason, loop, count.detail)
        if count.reason == NEVER_EXITS and COUNT in config:
            _write(loop, _merged(config, {}))
            text = f"took out a known trip count of {_number(config[COUNT])}"
            remark("passed", AnnotateWhileTripCount.name, STALE_COUNT, loop, text)
        elif COUNT in config:
            text = f"kept, unverified: a known trip count of {_number(config[COUNT])}"
            remark("analysis", AnnotateWhileTripCount.name, UNVERIFIED, loop, text)


def correct_annotation(loop: WhileOp, count: TripCount) -> None:
    """Brings what the `backend_config` says of the number of iterations up to date; a loop without it gets none."""
    config = _read(loop)
    if config and not {COUNT, STEP, VARIABLE}.isdisjoint(config):
        _write(loop, _merged(config, _known(count)))


def _known(count: TripCount) -> dict[str, dict[str, str]]:
    known = {COUNT: {"n": str(count.count)}}
    if count.step is not None:
        known[STEP] = {"init": str(count.init), "step": str(count.step)}
    if count.slot is not None:
        known[VARIABLE] = {"tuple_index": str(count.slot)}
    return known


def _merged(config: dict[str, Any], known: dict[str, dict[str, str]]) -> dict[str, Any]:
    """The config with the known facts in their old places, or at the end, and without those that no longer hold."""
    kept = {
        key: known.get(key, value)
        for key, value in config.items()
        if key in known or key not in (COUNT, STEP, VARIABLE)
    }
    return kept | known


def _read(loop: WhileOp) -> dict[str, Any] | None:
    """The backend_config as a dictionary, empty where there is none; None if it is something else."""
    text = text_of(loop.attributes.get(CONFIG))
    if not text:
        return {}
    try:
        config: object = json.loads(text)
    except ValueError:
        return None
    return cast("dict[str, Any]", config) if isinstance(config, dict) else None


def _write(loop: WhileOp, config: dict[str, Any]) -> None:
    if not config:
        loop.attributes.pop(CONFIG, None)
    elif config != _read(loop):
        loop.attributes[CONFIG] = StringAttr(json.dumps(config, separators=(",", ":"), ensure_ascii=False))


def _number(known: Any) -> str:
    return str(cast("dict[str, Any]", known).get("n", known)) if isinstance(known, dict) else str(known)
