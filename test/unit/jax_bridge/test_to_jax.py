"""`xneuron.to_jax`: modules as functions of JAX."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.utils.exceptions import VerifyException

import xneuron
from xneuron.formats.hlo_text import parse_hlo
from xneuron.transforms.unroll_while_loop import UnrollWhileLoop
from xneuron.transforms.while_loop_unroller import WhileLoopUnroller

jax = pytest.importorskip("jax")

LOOP = """HloModule powers
less { p = (s32[], f32[3]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(4)
  ROOT c = pred[] compare(i, n), direction=LT }
next { p = (s32[], f32[3]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[3] get-tuple-element(p), index=1
  o = s32[] constant(1)
  j = s32[] add(i, o)
  y = f32[3] add(x, x)
  ROOT t = (s32[], f32[3]) tuple(j, y) }
ENTRY main { x = f32[3] parameter(0)
  z = s32[] constant(0)
  t = (s32[], f32[3]) tuple(z, x)
  w = (s32[], f32[3]) while(t), condition=less, body=next
  ROOT y = f32[3] get-tuple-element(w), index=1 }
"""
X = np.array([1, -2, 0.5], np.float32)


def test_a_module_is_a_function() -> None:
    powers = xneuron.to_jax(parse_hlo(LOOP))
    np.testing.assert_array_equal(powers(X), 16 * X)
    assert powers.__name__ == "powers"
    assert powers.__doc__ == "(x: f32[3]) -> (f32[3])"


def test_unrolled_with_boundary_markers() -> None:
    module = parse_hlo(LOOP)
    WhileLoopUnroller().apply(Context(), module)
    before = str(module)
    np.testing.assert_array_equal(xneuron.to_jax(module)(X), 16 * X)
    assert str(module) == before


def test_it_is_part_of_jax() -> None:
    powers = xneuron.to_jax(parse_hlo(LOOP))
    both = jax.jit(lambda x: powers(x) + powers(powers(x)))
    np.testing.assert_array_equal(both(X), 16 * X + 256 * X)


def test_tuples_are_pytrees() -> None:
    module = parse_hlo("""ENTRY main { p = (f64[2], (s32[], bf16[2])) parameter(0)
      q = pred[] parameter(1)
      n = (s32[], bf16[2]) get-tuple-element(p), index=1
      ROOT t = ((s32[], bf16[2]), pred[]) tuple(n, q) }""")
    half = np.array([1, 2]).astype(jax.numpy.bfloat16)
    number, array, flag = xneuron.to_jax(module)((np.zeros(2), {"a": 7, "b": half}), True)
    assert number.dtype == np.int32
    assert int(number) == 7
    assert array.dtype == jax.numpy.bfloat16
    assert bool(flag)


def test_results_have_the_structure_that_jax_says() -> None:
    from xdsl.dialects.builtin import ArrayAttr, StringAttr
    from xdsl.dialects.func import FuncOp

    module = parse_hlo(
        "ENTRY main { x = f32[3] parameter(0)\n y = f32[3] negate(x)\n ROOT t = (f32[3], f32[3]) tuple(x, y) }"
    )
    entry = next(op for op in module.ops if isinstance(op, FuncOp))
    entry.attributes["jax.result_info"] = ArrayAttr([StringAttr("result['a'][0]"), StringAttr("result['b']")])
    found = xneuron.to_jax(module)(X)
    assert set(found) == {"a", "b"}
    assert isinstance(found["a"], tuple)
    np.testing.assert_array_equal(found["b"], -X)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), r"expected arrays for \(x: f32\[3\]\), found 0"),
        ((X, X), r"expected arrays for \(x: f32\[3\]\), found 2"),
        ((X.astype(np.int32),), "expected x of float32, found int32"),
        ((X[:2],), r"expected x of shape \(3,\), found \(2,\)"),
    ],
)
def test_arguments_must_fit(arguments: tuple[np.ndarray, ...], message: str) -> None:
    with pytest.raises(TypeError, match=f"^{message}$"):
        xneuron.to_jax(parse_hlo(LOOP))(*arguments)


def test_replicas_that_meet_are_refused() -> None:
    text = "HloModule m, replica_count=2\nENTRY main { x = f32[3] parameter(0)\n ROOT r = u32[] replica-id() }"
    with pytest.raises(VerifyException, match=r"expected a module of 1 replica .*, found 2 replicas"):
        xneuron.to_jax(parse_hlo(text))


def test_partitions_that_do_the_same_run_once() -> None:
    negated = xneuron.to_jax(
        parse_hlo("""HloModule m, num_partitions=4
        ENTRY main { x = f32[4] parameter(0), sharding={devices=[4]<=[4]}
          ROOT n = f32[4] negate(x), sharding={devices=[4]<=[4]} }""")
    )
    x = np.arange(4, dtype=np.float32)
    np.testing.assert_array_equal(negated(x), -x, strict=True)


def test_tokens_are_refused() -> None:
    with pytest.raises(VerifyException, match=r"expected arrays of static shape .*, found token\[\]"):
        xneuron.to_jax(parse_hlo("ENTRY main { ROOT x = token[] parameter(0) }"))


PARTITIONS = """
import numpy as np
import xneuron
from xneuron.formats.hlo_text import parse_hlo
f = xneuron.to_jax(parse_hlo('''HloModule m, num_partitions=4
sum { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b) }
ENTRY main { x = f32[2] parameter(0)
  s = f32[] parameter(1)
  b = f32[2] broadcast(s), dimensions={}
  y = f32[2] multiply(x, b)
  ROOT r = f32[2] all-reduce(y), channel_id=1, use_global_device_ids=true, replica_groups={{0,1},{2,3}},
    to_apply=sum }'''))
x = np.arange(8, dtype=np.float32).reshape(4, 2)
print(f(x, 2.0).tolist())
"""


SHARD_MAP = """
import jax, numpy as np
import xneuron
from jax.sharding import Mesh, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(2, 2), ("a", "b"))
def device(u, v):
    return {"sum": jax.lax.psum(u @ v, "b"), "row": jax.lax.axis_index("a") + jax.numpy.zeros((1,), "int32")}
f = jax.shard_map(device, mesh=mesh, in_specs=(P("a", "b"), P("b")), out_specs={"sum": P("a"), "row": P(("a", "b"))},
                  check_vma=False)
u, v = np.arange(8, dtype=np.float32).reshape(4, 2), np.array([[1, 2, 3], [4, 5, 6]], np.float32)
found = xneuron.to_jax(xneuron.from_jax(f, u, v))(u, v)
print((found["sum"] == u @ v).all(), found["row"].tolist())
"""


def run_with_devices(count: int, script: str) -> subprocess.CompletedProcess[str]:
    """Devices can only be made before the first is used: in a process of its own."""
    flags = f"--xla_force_host_platform_device_count={count}"
    environment = {**os.environ, "XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"}
    return subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False)


def test_partitions_run_on_devices() -> None:
    done = run_with_devices(4, PARTITIONS)
    assert done.stdout == "[[4.0, 8.0], [4.0, 8.0], [20.0, 24.0], [20.0, 24.0]]\n", done.stderr


def test_what_came_from_shard_map_takes_whole_values() -> None:
    done = run_with_devices(4, SHARD_MAP)
    assert done.stdout == "True [0, 0, 1, 1]\n", done.stderr


def test_too_few_devices() -> None:
    said = run_with_devices(2, PARTITIONS).stderr.splitlines()[-1]
    assert said.startswith("ValueError: expected 4 devices for the program's partitions, found 2; on CPU, XLA_FLAGS=")


class Pair(NamedTuple):
    left: Any
    right: Any


def test_from_jax_remembers_pytrees() -> None:
    """Named tuples, lists and None, arguments by keyword, and what the function does not use."""

    def f(pair: Pair, *, shift: Any, unused: Any) -> Any:
        return [Pair(pair.left + shift, {"r": pair.right}), None]

    given = {"shift": 2.0, "unused": {"a": X}}
    for function in (f, jax.jit(f)):
        again = xneuron.to_jax(xneuron.from_jax(function, Pair(X, 2 * X), **given))
        (pair, nothing) = again(Pair(X, 2 * X), **given)
        assert isinstance(pair, Pair)
        assert nothing is None
        np.testing.assert_array_equal(pair.left, X + 2)
        np.testing.assert_array_equal(pair.right["r"], 2 * X)
        with pytest.raises(TypeError, match=r"^expected arguments \(Pair\(.*\), shift=\*, unused=.*\), found \(\*\)$"):
            again(X)


def test_static_arguments_are_part_of_the_program() -> None:
    squared = xneuron.to_jax(xneuron.from_jax(jax.jit(lambda x, n: x**n, static_argnums=1), X, 2))
    np.testing.assert_array_equal(squared(X), X**2)


def test_typed_keys_go_in_and_out() -> None:
    key = jax.random.key(7)
    split = xneuron.to_jax(xneuron.from_jax(lambda key: jax.random.split(key), key))
    np.testing.assert_array_equal(jax.random.key_data(split(key)), jax.random.key_data(jax.random.split(key)))


def test_donated_arguments_are_donated() -> None:
    twice = xneuron.to_jax(xneuron.from_jax(jax.jit(lambda x, y: (x + y, y), donate_argnums=0), X, X))
    first, second = jax.numpy.asarray(X), jax.numpy.asarray(X)
    np.testing.assert_array_equal(twice(first, second)[0], 2 * X)
    assert first.is_deleted()
    assert not second.is_deleted()


def test_exported_functions() -> None:
    exported = jax.export.export(jax.jit(lambda x, unused: x + 1))(X, X)
    np.testing.assert_array_equal(xneuron.to_jax(xneuron.from_jax(exported))(X, X), X + 1)


def test_calls_of_linear_algebra() -> None:
    """Custom calls that XLA knows by a version of their interface that JAX does not print."""
    matrix = np.array([[2, 1], [1, 3]], np.float32)
    values = xneuron.to_jax(xneuron.from_jax(jax.numpy.linalg.eigvalsh, matrix))(matrix)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(matrix), rtol=1e-6)


def test_one_after_the_other_under_vmap() -> None:
    powers = xneuron.to_jax(parse_hlo(LOOP))
    np.testing.assert_array_equal(jax.vmap(powers, 1, 1)(np.stack([X, 3 * X], 1)), np.stack([16 * X, 48 * X], 1))


def test_there_are_no_derivatives() -> None:
    powers = xneuron.to_jax(parse_hlo(LOOP))
    with pytest.raises(NotImplementedError, match=r"^expected no derivatives of powers, .* as in from_jax"):
        jax.grad(lambda x: powers(x).sum())(X)


def test_compiled_once_and_as_it_was() -> None:
    module = parse_hlo(LOOP)
    powers = xneuron.to_jax(module)
    text = jax.jit(powers).lower(X).as_text()
    UnrollWhileLoop().apply(Context(), module)
    assert jax.jit(powers).lower(X).as_text() == text
    np.testing.assert_array_equal(powers(X), 16 * X)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: xneuron.to_jax(3), TypeError, "expected a module, found int"),
        (lambda: xneuron.from_jax(3), TypeError, "expected a function, or what is .*, found int"),
        (lambda: xneuron.from_jax(jax.jit(abs).lower(X), X), TypeError, "expected no arguments beside a Lowered, .*"),
        (lambda: xneuron.from_jax(jax.jit(abs).lower(X).compile()), TypeError, "expected a .*, found it compiled"),
        (lambda: xneuron.to_jax(parse_hlo(LOOP))(x=X), TypeError, "expected arguments by position, .*, found x"),
        (
            lambda: xneuron.to_jax(xneuron.from_jax(lambda n: n, 1))(1.5),
            TypeError,
            "expected n of int32, found float32",
        ),
        (
            lambda: xneuron.to_jax(xneuron.from_jax(lambda x: jax.pure_callback(abs, x, x), X)),
            VerifyException,
            "expected a program that does not call Python back, found custom-call .*pure_callback.*",
        ),
    ],
)
def test_wrong_use(call: Callable[[], object], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=f"^{message}$"):
        call()
