"""Writes the corpus: HLO texts of the programs in loops.py and blocks.py, and the arrays to run them with.

    .venv/bin/python test/corpus/generate.py [NAME…]

For each program: `NAME.before.hlo` as JAX hands it to XLA, `NAME.after.hlo` as XLA CPU leaves it, and `NAME.npz`, its
arguments (see docs/formats.md). The tests read these files and never run this script: the texts are those of the
jaxlib they were made with (0.10.2).
"""

import sys
from pathlib import Path

import blocks  # noqa: F401 (joins the list)
import jax
import loops  # noqa: F401 (joins the list)
from jaxlib import _hlo
from registry import PROGRAMS, Program

from xneuron.formats.arrays import save_arrays

HERE = Path(__file__).resolve().parent


def as_jax_prints() -> _hlo.HloPrintOptions:
    """`lowered.as_text("hlo")`, with constants in full."""
    options = _hlo.HloPrintOptions()
    options.print_percent = options.print_metadata = options.print_program_shape = False
    options.print_large_constants = True
    return options


def as_xla_prints() -> _hlo.HloPrintOptions:
    """`compiled.as_text()`, with constants in full."""
    options = _hlo.HloPrintOptions()
    options.print_large_constants = True
    return options


def write(name: str, program: Program) -> None:
    """Writes the program's three files."""
    lowered = jax.jit(program.function, keep_unused=True).lower(*program.arguments)
    before = lowered.compiler_ir("hlo").as_hlo_module().to_string(as_jax_prints())
    after = lowered.compile().runtime_executable().hlo_modules()[0].to_string(as_xla_prints())
    for stage, text in (("before", before), ("after", after)):
        text = text.replace(f"{HERE.parent.parent}/", "").rstrip() + "\n"
        (HERE / f"{name}.{stage}.hlo").write_text(text)
    save_arrays(HERE / f"{name}.npz", {str(i): array for i, array in enumerate(program.arguments)})


def main() -> None:
    """Writes the named programs, or all."""
    for name in sys.argv[1:] or PROGRAMS:
        write(name, PROGRAMS[name])
    print(f"{len(PROGRAMS)} programs", file=sys.stderr)


if __name__ == "__main__":
    main()
