"""The target `stablehlo`: what it says when MLIR is missing or refuses."""

from __future__ import annotations

from io import StringIO

import pytest
from xdsl.context import Context
from xdsl.utils.exceptions import DiagnosticException

import xneuron
from xneuron.formats.hlo_text import parse_hlo
from xneuron.formats.stablehlo import process
from xneuron.formats.stablehlo.target import StablehloTarget

PROGRAM = 'ENTRY e { x = f32[4] parameter(0)\n ROOT n = f32[4] negate(x), metadata={op_name="jit(f)/neg"} }'


def emitted(text: str, locations: bool | None = None) -> str:
    output = StringIO()
    StablehloTarget(locations).emit(Context(), parse_hlo(text), output)
    return output.getvalue()


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "available", lambda: False)
    with pytest.raises(DiagnosticException, match=r"^[^\n]*pip install 'xneuron\[jax\]'$"):
        emitted(PROGRAM)
    with pytest.raises(process.MissingExtra, match=r"pip install 'xneuron\[jax\]'$"):
        xneuron.to_jax(parse_hlo(PROGRAM))


@pytest.mark.skipif(not process.available(), reason="needs the extra `jax`")
class TestWithMlir:
    def test_locations_where_the_program_has_some(self) -> None:
        assert 'loc("jit(f)/neg")' in emitted(PROGRAM)
        assert "loc(" not in emitted(PROGRAM, locations=False)
        bare = PROGRAM.partition(", metadata")[0] + " }"
        assert "loc(" not in emitted(bare)
        assert 'loc("n")' in emitted(bare, locations=True)

    def test_what_mlir_refuses(self) -> None:
        call = 'custom-call(x), custom_call_target="t", api_version=API_VERSION_TYPED_FFI, backend_config="{a = }"'
        with pytest.raises(DiagnosticException, match=r"^MLIR refuses the StableHLO: [^\n]+$"):
            emitted(f"ENTRY e {{ x = f32[4] parameter(0)\n ROOT n = f32[4] {call} }}")
