"""`xneuron.from_jax`, in a process of its own, since it imports JAX; and what happens without the extra."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = str(Path(__file__).parents[1] / "corpus" / "scan_sum.before.hlo")
SCRIPT = """
import jax
import jax.numpy as jnp
import numpy as np
import xneuron
from xneuron.formats.hlo_text import print_hlo
from xneuron.formats.stablehlo.reader.errors import StablehloError
from xneuron.interpreters.evaluator import Program
from xneuron.transforms.unroll_while_loop import UnrollWhileLoop
from xdsl.context import Context

def f(x, unused):
    return jax.lax.fori_loop(0, 5, lambda i, c: c * 2.0 + i, x)

x, y = np.arange(3, dtype=np.float32), np.ones((2, 2), np.float32)
module = xneuron.from_jax(f, x, y)
assert np.allclose(Program(module).run(x, y)[0], f(x, y))
UnrollWhileLoop().apply(Context(), module)
module.verify()
assert np.allclose(Program(module).run(x, y)[0], f(x, y))

spec = jax.ShapeDtypeStruct((3,), jnp.float32)
jitted = jax.jit(lambda x, n: x * n, static_argnums=1, donate_argnums=0)
text = print_hlo(xneuron.from_jax(jitted, spec, 4))
assert "input_output_alias={ {}: (0, {}, may-alias) }" in text and "constant(4)" in text
assert print_hlo(xneuron.from_jax(jitted.trace(spec, 4))) == text

lowered = jax.jit(lambda x: jax.lax.erf_inv(x)).lower(spec)
before = lowered.as_text()
assert "log-plus-one" in print_hlo(xneuron.from_jax(lowered)) and lowered.as_text() == before
assert "keyword=value" not in print_hlo(xneuron.from_jax(lambda *, scale: scale + 1, scale=1.5))

calls = [op for op in xneuron.from_jax(f, x, y).walk() if op.name == "hlo.while"]
print(calls[0].location, calls[0].attributes["metadata"].data["op_name"])

def odd(x):
    return jnp.sum(device(x))

mesh = jax.sharding.Mesh(np.array(jax.devices()[:2]), ("x",))
device = jax.shard_map(lambda p: p * 2, mesh=mesh, in_specs=jax.P("x"), out_specs=jax.P("x"))
try:
    xneuron.from_jax(odd, np.zeros(4, np.float32))
except StablehloError as error:
    print(error)
"""


def test_from_jax(tmp_path: object) -> None:
    flags = {"XLA_FLAGS": "--xla_force_host_platform_device_count=2", "JAX_PLATFORMS": "cpu"}
    done = subprocess.run(
        [sys.executable, "-c", f"import os; os.environ.update({flags}); exec(compile({SCRIPT!r}, 'model.py', 'exec'))"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    place, error = done.stdout.splitlines()
    assert place == 'loc("model.py":13:11) "jit(f)/while"'
    assert error.startswith(
        "stablehlo.reduce: expected a dimension of which a device always holds the same part, found one split by {x} "
        "and whole; sdy.manual_computation cannot be expressed otherwise; traced as jit(odd)/reduce_sum at model.py:37:"
    )


@pytest.mark.parametrize("module", ["jax", "jaxlib"])
def test_start_up_does_without(module: str) -> None:
    imported = "xneuron, xneuron.universe, xneuron.formats.stablehlo.frontend"
    code = f"import sys, {imported}; assert {module!r} not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    "arguments", [["opt", "--help"], ["opt", PROGRAM, "-t", "hlo"], ["run", PROGRAM, "--random", "1"]]
)
def test_tools_do_without(arguments: list[str]) -> None:
    """Help, and what is done to HLO text."""
    tool, *rest = arguments
    code = f"""import sys, xneuron.tools.xneuron_{tool} as tool
sys.argv[1:] = {rest}
try: tool.main()
finally: assert not sys.modules.keys() & {{"jax", "jaxlib"}}"""
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_without_the_extra_is_one_error() -> None:
    code = "import sys; sys.modules['jaxlib'] = None\nimport xneuron\nxneuron.from_jax(lambda x: x, 1)"
    hidden = (
        "import importlib.util as u; f = u.find_spec; u.find_spec = lambda n, *a: None if n == 'jaxlib' else f(n, *a)\n"
    )
    done = subprocess.run([sys.executable, "-c", hidden + code], capture_output=True, text=True, check=False)
    last = done.stderr.strip().splitlines()[-1]
    assert last.endswith("MissingExtra: StableHLO is read and written by JAX's MLIR: pip install 'xneuron[jax]'")
