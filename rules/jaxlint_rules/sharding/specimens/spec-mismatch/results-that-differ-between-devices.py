# results that differ between devices, and scalars

import functools
import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import PartitionSpec as P

mesh = jax.make_mesh((4, 2), ("x", "y"))

def statistics(block):
    mean = lax.pmean(block.mean(axis=0), "x")
    return mean, jnp.sqrt(jnp.mean((block - mean) ** 2, axis=0))

apart = jax.shard_map(statistics, mesh=mesh, in_specs=P("x"), out_specs=P())  # finding

def reduced(block):
    mean = lax.pmean(block.mean(axis=0), "x")
    return mean, jnp.sqrt(lax.pmean(jnp.mean((block - mean) ** 2, axis=0), "x"))

together = jax.shard_map(reduced, mesh=mesh, in_specs=P("x"), out_specs=P())

@functools.partial(jax.shard_map, mesh=mesh, in_specs=(P("x", "y"), P("y", None)), out_specs=P("x", None))  # finding
def partial_product(a, b):
    return a @ b

@functools.partial(jax.shard_map, mesh=mesh, in_specs=(P("x", "y"), P("y", None)), out_specs=P("x", None))
def product(a, b):
    return lax.psum(a @ b, "y")

@functools.partial(jax.shard_map, mesh=mesh, in_specs=(P(), P("x")), out_specs=(P(), P("x")))
def places(w, x):
    return w * 2 + lax.psum(jnp.sum(x), ("x",)), jnp.zeros_like(x) + lax.axis_index("x")

@functools.partial(jax.shard_map, mesh=mesh, in_specs=P("x"), out_specs=P())  # finding
def numbered(x):
    return lax.psum(x, "x") + lax.axis_index("x")

@functools.partial(jax.shard_map, mesh=mesh, in_specs=(P(), P("x")), out_specs=P("x"))  # finding
def scalar(w, x):
    local = jnp.mean((x @ w) ** 2)
    return lax.pmean(local, "x")

@functools.partial(jax.shard_map, mesh=mesh, in_specs=P("x"), out_specs=P("x"))
def one_each(x):
    return lax.all_gather(x, "x").sum()[None]

@functools.partial(jax.shard_map, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)
def unchecked(x):
    return lax.all_gather(x, "x", tiled=True)

def looped(x, steps):
    def body(_, total):
        return total + lax.psum(x.sum(), "x")
    return lax.fori_loop(0, steps, body, jnp.zeros(()))

counted = jax.shard_map(functools.partial(looped, steps=3), mesh=mesh, in_specs=P("x"), out_specs=P())
