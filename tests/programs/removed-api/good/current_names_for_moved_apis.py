# source: jaxleyverse/jaxley#806
# blind: eighteenth

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("d",))


def polyak(target, online, tau=0.01):
    return jax.tree.map(lambda t, o: (1 - tau) * t + tau * o, target, online)


def squash(x, limit=5.0):
    return jnp.tanh(jnp.clip(x, min=-limit, max=limit))


def area_under(y, x):
    return jnp.trapezoid(y, x, axis=-1)


@functools.partial(jax.shard_map, mesh=mesh, in_specs=P("d"), out_specs=P())
def global_max(x):
    return jax.lax.pmax(jnp.max(x), "d")


@jax.jit
def summarize(params, x):
    grid = jnp.linspace(0.0, 1.0, x.shape[-1])
    flat, _ = jax.tree.flatten(params)
    total = sum(jnp.sum(squash(p)) for p in flat)
    return area_under(x, grid).mean() + total, jnp.isin(jnp.arange(4), jnp.array([1, 2]))


if __name__ == "__main__":
    online = {"w": jnp.ones((2, 2)), "b": jnp.zeros(2)}
    print(polyak(jax.tree.map(jnp.zeros_like, online), online))
    print(summarize(online, jnp.ones((3, 11))))
    n = len(jax.devices())
    print(global_max(jnp.arange(4.0 * n)))
