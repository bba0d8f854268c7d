"""Attributes that every instruction and parameter may have, in the form in which XLA reads them from StableHLO.

| HLO | here |
|---|---|
| `sharding` | `mhlo.sharding`, HLO's text of it |
| `frontend_attributes` | `mhlo.frontend_attributes`, a dictionary of strings |
| `parameter_replication` | `mhlo.parameter_replication` |
| `backend_config` (custom calls have a property) | `mhlo.backend_config`, which XLA does not read |

`metadata` becomes the location. Attributes of other dialects (`jax.…`) stay. `statistics` and `origin` are about
compilations that are over, and left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import cast

from xdsl.dialects.builtin import DictionaryAttr
from xdsl.ir import Attribute

from xneuron.dialects.hlo.attributes import sharding_entries, text_of
from xneuron.formats.stablehlo.writer.emitter import string_attribute
from xneuron.formats.stablehlo.writer.text import attribute_text, dictionary, quoted

SHARDING = "mhlo.sharding"
FRONTEND = "mhlo.frontend_attributes"
COMPOSITE = "composite."
"""How the keys of frontend attributes begin that say what a composite is."""


def common(attributes: Mapping[str, Attribute]) -> dict[str, str]:
    """The attributes of an instruction, as text."""
    found: dict[str, str] = {}
    if not attributes or (len(attributes) == 1 and "metadata" in attributes):
        return found
    if (sharding := attributes.get("sharding")) is not None:
        found[SHARDING] = string_attribute(sharding)
    if kept := frontend_attributes(attributes):
        found[FRONTEND] = dictionary({key: quoted(value) for key, value in kept.items()})
    if (config := attributes.get("backend_config")) is not None:
        found["mhlo.backend_config"] = string_attribute(config)
    return found | foreign(attributes)


def foreign(attributes: Mapping[str, Attribute]) -> dict[str, str]:
    """Attributes of other dialects, which the reader keeps under their own names (`jax.result_info`)."""
    return {
        key: attribute_text(value)
        for key, value in attributes.items()
        if "." in key and not key.startswith(("hlo.", "bir."))
    }


def frontend_attributes(attributes: Mapping[str, Attribute], composite: bool = False) -> dict[str, str]:
    """The frontend attributes; those that say what a composite is, or the others."""
    entries = attributes.get("frontend_attributes")
    items = cast(DictionaryAttr, entries).data.items() if entries is not None else ()
    return {key: text_of(value) for key, value in items if key.startswith(COMPOSITE) == composite}


def of_parameter(attributes: Mapping[str, Attribute], leaves: int) -> list[dict[str, str]]:
    """The attributes of each leaf of a parameter."""
    shardings = shardings_of(attributes, leaves)
    replicated = re.findall("true|false", text_of(attributes.get("parameter_replication")))
    found: list[dict[str, str]] = []
    for index in range(leaves):
        own = {key: value for key, value in common(attributes).items() if key != SHARDING}
        if shardings:
            own[SHARDING] = quoted(shardings[index])
        if index < len(replicated) and replicated[index] == "true":
            own["mhlo.parameter_replication"] = "[true]"
        found.append(own)
    return found


def shardings_of(attributes: Mapping[str, Attribute], leaves: int) -> list[str]:
    """The sharding of each leaf of a value; none where it has none."""
    sharding = attributes.get("sharding")
    entries = sharding_entries(sharding)
    return entries if len(entries) in (0, leaves) else [text_of(sharding)] * leaves
