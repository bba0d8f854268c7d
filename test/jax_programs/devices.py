"""Programs of four devices: shard_map on a mesh of two by two, and pmap."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P
from jax_programs.registry import f32, program

MESH = Mesh(np.array(jax.devices()[:4]).reshape(2, 2), ("x", "y"))
_on_mesh = partial(jax.shard_map, mesh=MESH)


@program(f32(4, 6), parts=(("x", "y"),))
def sums_and_gathers(a):
    """Along one axis and along both."""

    def device(a):
        return lax.psum(a, "x"), lax.all_gather(a, "y"), lax.pmax(a, ("x", "y")), lax.pmean(a, "y")

    return _on_mesh(device, in_specs=P("x", "y"), out_specs=(P(None, "y"), P(None, "x"), P(), P("x")), check_vma=False)(
        a
    )


@program(f32(4, 4), f32(4, 6), parts=(("x", "y"), ("y", None)))
def matmul_in_parts(a, b):
    """A product whose contracted dimension is split; the sums stay scattered."""

    def device(a, b):
        return lax.psum_scatter(a @ b, "y", scatter_dimension=1, tiled=True)

    return _on_mesh(device, in_specs=(P("x", "y"), P("y", None)), out_specs=P("x", "y"))(a, b)


@program(f32(8, 4), parts=(("x", "y"),))
def exchanges(a):
    """Permutations and all-to-all, by the number of the device."""

    def device(a):
        turned = lax.ppermute(a, "x", [(0, 1), (1, 0)]) + lax.axis_index("y")
        return lax.all_to_all(turned, "y", split_axis=0, concat_axis=1, tiled=True)

    return _on_mesh(device, in_specs=P("x", "y"), out_specs=P(("x", "y"), None))(a)


@program(f32(4, 4), parts=(("x", "y"),))
def loop_in_a_device(a):
    """A collective in each iteration."""

    def device(a):
        return lax.fori_loop(0, 3, lambda i, c: lax.ppermute(c, "y", [(0, 1), (1, 0)]) * 1.5 + i, a)

    return _on_mesh(device, in_specs=P("x", "y"), out_specs=P("x", "y"))(a)


@program(f32(4, 4), parts=(("x", "y"),))
def loop_around_devices(a):
    """A loop outside, on values of which each device holds a part."""
    device = _on_mesh(lambda b: lax.ppermute(b, "x", [(0, 1), (1, 0)]), in_specs=P("x", "y"), out_specs=P("x", "y"))
    return lax.fori_loop(0, 3, lambda i, c: jnp.tanh(device(c)) + 0.5, a)


@program(f32(4, 4), f32(4), parts=(("x", "y"), ("y",)))
def gradient_on_devices(a, w):
    """The gradient of a sum over all devices."""

    def loss(w):
        device = _on_mesh(
            lambda a, w: lax.psum(jnp.sum((a * w) ** 2), ("x", "y")), in_specs=(P("x", "y"), P("y")), out_specs=P()
        )
        return jnp.sqrt(device(a, w))

    return jax.value_and_grad(loss)(w)


@program(f32(4, 6), f32(5, 4, 6), parts=(("x", "y"), (None, "x", "y")))
def training_on_devices(w, batches):
    """A scan around devices, with outputs, and its gradient, for which it keeps what each iteration had."""
    layer = _on_mesh(
        lambda w, b: jnp.tanh(w * b) + lax.pmean(w, "y"), in_specs=(P("x", "y"), P("x", "y")), out_specs=P("x", "y")
    )
    total = _on_mesh(lambda v: lax.psum(jnp.sum(v * v), ("x", "y")), in_specs=P("x", "y"), out_specs=P())

    def step(w, batch):
        loss, gradient = jax.value_and_grad(lambda w: total(layer(w, batch)))(w)
        return w - 0.1 * gradient, (loss, w[:, None, :])

    def last(w):
        return total(lax.scan(lambda c, batch: (layer(c, batch), None), w, batches)[0])

    return lax.scan(step, w, batches), jax.grad(last)(w)


@program(f32(4, 4), parts=(("x",),))
def one_axis_by_hand(a):
    """Of the mesh's two axes only one is manual."""
    return _on_mesh(lambda b: lax.psum(b, "x"), in_specs=P("x"), out_specs=P(), axis_names={"x"})(a)


@program(f32(4, 3), parts=(("i",),))
def pmapped(a):
    """A function of each of four devices."""
    return jax.pmap(lambda b: b / lax.psum(b, "i"), axis_name="i")(a)
