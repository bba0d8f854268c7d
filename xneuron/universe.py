"""What plain `xdsl-opt` gets from xneuron: dialects, passes, formats. Nothing is imported before it is used."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from xdsl.ir import Dialect
from xdsl.passes import ModulePass
from xdsl.universe import Universe
from xdsl.utils.frontend import Frontend
from xdsl.utils.target import Target


def _hlo() -> Dialect:
    from xneuron.dialects.hlo import HLO

    return HLO


def _bir() -> Dialect:
    from xneuron.dialects.bir import BIR

    return BIR


TRANSFORMS = {
    "all-gather-trip-count": "AllGatherTripCount",
    "annotate-while-trip-count": "AnnotateWhileTripCount",
    "aws_neuron_rewrite_all_gather_trip_count": "AwsNeuronRewriteAllGatherTripCount",
    "boundary-marker-removal": "BoundaryMarkerRemoval",
    "call-inliner": "CallInliner",
    "canonicalize-boundary-marker": "CanonicalizeBoundaryMarker",
    "flatten-call-graph": "FlattenCallGraph",
    "hlo-cse": "HloCse",
    "hlo-dce": "HloDce",
    "neuron_add_boundary_marker": "NeuronAddBoundaryMarker",
    "neuron_move_all_gather_while_loop": "NeuronMoveAllGatherWhileLoop",
    "neuron_move_reduce_scatter_while_loop": "NeuronMoveReduceScatterWhileLoop",
    "neuron_unique_channel_id_enforcer": "NeuronUniqueChannelIdEnforcer",
    "tuple-simplifier": "TupleSimplifier",
    "tuple-while-operands": "TupleWhileOperands",
    "unroll-while-loop": "UnrollWhileLoop",
    "while-loop-constant-sinking": "WhileLoopConstantSinking",
    "while_loop_unroller": "WhileLoopUnroller",
}
"""Pass keys with their classes; a pass stands in the file of its key, with underscores."""


LOWERINGS = {
    "bir-check-registers": "BirCheckRegisters",
    "bir-lower-loops-to-branches": "BirLowerLoopsToBranchesPass",
    "bir-validate-cfg": "BirValidateCfg",
    "convert-hlo-to-bir": "ConvertHloToBir",
}
"""The same for the passes of `lowering/`, and for those that check what it makes."""


def _passes(room: str, classes: dict[str, str]) -> dict[str, Callable[[], type[ModulePass]]]:
    def loader(key: str, name: str) -> Callable[[], type[ModulePass]]:
        return lambda: getattr(import_module(f"xneuron.{room}.{key.replace('-', '_')}"), name)

    return {key: loader(key, name) for key, name in classes.items()}


def _dot() -> type[Target]:
    from xneuron.formats.dot import DotTarget

    return DotTarget


def _mermaid() -> type[Target]:
    from xneuron.formats.mermaid import MermaidTarget

    return MermaidTarget


def _hlo_frontend() -> type[Frontend]:
    from xneuron.formats.hlo_text import HloFrontend

    return HloFrontend


def _hlo_target() -> type[Target]:
    from xneuron.formats.hlo_text import HloTarget

    return HloTarget


def _bir_json_frontend() -> type[Frontend]:
    from xneuron.formats.bir_json import BirJsonFrontend

    return BirJsonFrontend


def _json_frontend() -> type[Frontend]:
    from xneuron.formats.bir_json import JsonFrontend

    return JsonFrontend


def _bir_json_target() -> type[Target]:
    from xneuron.formats.bir_json import BirJsonTarget

    return BirJsonTarget


def _stablehlo_frontend() -> type[Frontend]:
    from xneuron.formats.stablehlo.frontend import StablehloFrontend

    return StablehloFrontend


def _stablehlo_target() -> type[Target]:
    from xneuron.formats.stablehlo.target import StablehloTarget

    return StablehloTarget


def _bir_text() -> type[Target]:
    from xneuron.formats.bir_text import BirTextTarget

    return BirTextTarget


XNEURON = Universe(
    all_dialects={"hlo": _hlo, "bir": _bir},
    all_passes=_passes("transforms", TRANSFORMS) | _passes("lowering", LOWERINGS),
    all_frontends={
        "hlo": _hlo_frontend,
        "stablehlo": _stablehlo_frontend,
        "bir-json": _bir_json_frontend,
        "json": _json_frontend,
    },
    all_targets={
        "hlo": _hlo_target,
        "stablehlo": _stablehlo_target,
        "dot": _dot,
        "mermaid": _mermaid,
        "bir-json": _bir_json_target,
        "bir-text": _bir_text,
    },
)
