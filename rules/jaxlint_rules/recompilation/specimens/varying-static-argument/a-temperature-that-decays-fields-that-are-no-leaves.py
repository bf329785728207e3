# a temperature that decays, fields that are no leaves

from functools import partial
import equinox as eqx
import jax
import jax.numpy as jnp

class Source(eqx.Module):
    flux: jax.Array
    offset: int

class Kernel(eqx.Module):
    scale: jax.Array
    order: int = eqx.field(static=True)

@partial(jax.jit, static_argnames="tau")
def soften(x, tau):
    return jax.nn.softmax(x / tau)

@eqx.filter_jit
def render(source):
    return source.flux * source.offset

@jax.jit
def smooth(kernel):
    return kernel.scale ** kernel.order

def anneal(x, steps, rate):
    tau, beta = 5.0, 1.0
    for _ in range(steps):
        x = soften(x, tau=tau)  # finding
        x = soften(x, tau=beta)  # finding
        tau = max(0.5, tau * 0.97)
        beta *= rate
    return x

def positions(source, n):
    found = []
    for i in range(n):
        found.append(render(Source(jnp.ones(()), i)))  # finding
        found.append(render(eqx.tree_at(lambda s: s.offset, source, i)))  # finding
        kernel = Kernel(jnp.ones(3), i)
        found.append(smooth(kernel))  # finding
    return found

anneal(jnp.ones(3), 100, 0.9)
positions(Source(jnp.ones(()), 0), 100)
