"""Results of a run: as text, as JSON, and compared with the results of another run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from xneuron.tools.diagnostics import ProgramError

SHOWN = 40
"""Arrays with more elements than this are cut in text output."""


def flat(value: Any) -> list[Any]:
    """The arrays of a result, nested tuples flattened; a token is None."""
    if isinstance(value, tuple):
        return [leaf for element in cast("tuple[Any, ...]", value) for leaf in flat(element)]
    return [value]


def as_json(value: Any) -> dict[str, Any]:
    """`{"dtype": "f32", "shape": [2], "data": [1.0, "nan"]}`; JSON has no NaN and infinities: they are strings."""
    from xneuron.formats.arrays import hlo_name

    if value is None:
        return {"dtype": "token", "shape": [], "data": None}
    return {"dtype": hlo_name(value.dtype), "shape": list(value.shape), "data": _plain(value.tolist())}


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(element) for element in cast("list[Any]", value)]
    if isinstance(value, complex):
        return [_plain(value.real), _plain(value.imag)]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def as_text(value: Any) -> str:
    """`f32[2] [1. 2.]`, cut where it is long."""
    import numpy as np

    from xneuron.formats.arrays import hlo_name

    if value is None:
        return "token[]"
    body = np.array2string(np.asarray(value), threshold=SHOWN, separator=", ", max_line_width=110)
    extents = ",".join(map(str, value.shape))
    return f"{hlo_name(value.dtype)}[{extents}] {body}"


def profile_as_text(profile: Mapping[str, Any]) -> str:
    """The counts, largest first, a line each."""
    lines = [f"executed instructions: {profile['executed']}"]
    for title, counts in profile.items():
        if isinstance(counts, Mapping) and counts:
            ordered = sorted(cast("Mapping[str, int]", counts).items(), key=lambda item: -item[1])
            lines += [f"{title}:", *(f"{count:>12}  {name}" for name, count in ordered)]
    return "\n".join(lines)


@dataclass(frozen=True)
class Difference:
    """The first place where two runs differ."""

    output: int
    position: tuple[int, ...]
    before: Any
    after: Any
    count: int
    size: int

    def __str__(self) -> str:
        place = f"[{', '.join(map(str, self.position))}]" if self.position else ""
        return (
            f"output {self.output}{place} differs: {self.before} before, {self.after} after "
            f"({self.count} of {self.size} elements differ)"
        )


def first_difference(before: Sequence[Any], after: Sequence[Any], tolerance: float = 0.0) -> Difference | None:
    """The first element that differs by more than `tolerance`, relative to the largest finite element of its array.

    NaN equals NaN. By default, and always for integers, bits decide.

    Raises ProgramError if the two runs do not even give arrays of the same types.
    """
    if [_type(value) for value in before] != [_type(value) for value in after]:
        raise ProgramError(f"results changed from {_types(before)} to {_types(after)}")
    for index, (old, new) in enumerate(zip(before, after, strict=True)):
        if old is not None and (found := _differs(index, old, new, tolerance)):
            return found
    return None


def _type(value: Any) -> Any:
    return None if value is None else (value.dtype, value.shape)


def _types(values: Sequence[Any]) -> str:
    return f"({', '.join(as_text(value).split(' ')[0] for value in values)})"


def _differs(index: int, before: Any, after: Any, tolerance: float) -> Difference | None:
    import numpy as np

    before, after = np.asarray(before), np.asarray(after)
    wrong = ~_equal(before, after, tolerance)
    if not wrong.any():
        return None
    position = tuple(int(i) for i in np.unravel_index(int(np.argmax(wrong)), before.shape))
    return Difference(index, position, before[position], after[position], int(wrong.sum()), before.size)


def _equal(before: Any, after: Any, tolerance: float) -> Any:
    import numpy as np

    if not tolerance or before.dtype.kind in "biu":
        both_nan = (before != before) & (after != after)
        return (_bytes(before) == _bytes(after)).all(-1).reshape(before.shape) | both_nan
    wide = np.complex128 if before.dtype.kind == "c" else np.float64
    before, after = before.astype(wide), after.astype(wide)
    # A sum of large terms may be close to 0: it is as exact as its terms are.
    largest = np.where(np.isfinite(before), np.abs(before), 0.0).max(initial=0.0)
    return np.isclose(before, after, rtol=0, atol=tolerance * largest, equal_nan=True)


def _bytes(array: Any) -> Any:
    """The bytes of each element: what tells 0 from -0."""
    return array.reshape(-1).view("u1").reshape(array.size, array.itemsize)
