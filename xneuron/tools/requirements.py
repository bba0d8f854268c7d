"""`--require=PASS[:LOOP]`: transformations that must not be refused."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from xneuron.tools.diagnostics import UsageError, did_you_mean

if TYPE_CHECKING:
    from xneuron.remarks import Remark


class Requirement(NamedTuple):
    """A pass that must not refuse a loop; any loop if `loop` is empty."""

    pass_name: str
    loop: str

    def failures(self, remarks: Sequence[Remark]) -> list[str]:
        """What went against it, as text: each refusal, or that the pass never met the loop."""
        own = [remark for remark in remarks if remark.pass_name == self.pass_name]
        of_loop = [remark for remark in own if self.loop in ("", remark.loop)]
        if self.loop and not of_loop:
            known = {remark.loop for remark in own}
            return [f"{self.pass_name} said nothing of a loop {self.loop}{did_you_mean(self.loop, known)}"]
        return [remark.as_text() for remark in of_loop if remark.kind == "missed"]


def requirements(words: Sequence[str], passes: Sequence[str]) -> list[Requirement]:
    """Reads the option's values. Raises UsageError for a pass that the pipeline does not have."""
    found = [Requirement(*word.partition(":")[::2]) for word in words]
    for each in found:
        if each.pass_name not in passes:
            hint = did_you_mean(each.pass_name, passes)
            raise UsageError(f"in --require: pass '{each.pass_name}' is not in the pipeline{hint}")
    return found


@contextmanager
def watched(required: Sequence[Requirement]) -> Generator[list[Remark]]:
    """Collects the remarks made inside, if anything is required."""
    if not required:
        yield []
        return
    from xneuron.remarks import collect

    with collect() as remarks:
        yield remarks
