# times, labels, branches, segments, actions and positions that reach beyond the end
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import linen as nn

alpha_bar = jnp.cumprod(1 - jnp.linspace(1e-4, 0.02, 1000))


@jax.jit
def noise_level(key):
    t = jax.random.randint(key, (16,), 1, 1001)
    return alpha_bar[t], jnp.take(alpha_bar, t, axis=0)  # finding


@jax.jit
def choose(key, x):
    branch = jax.random.randint(key, (), 1, 3)
    return jax.lax.switch(branch, [jnp.sin, jnp.cos], x)  # finding


@jax.jit
def loss(logits, labels):
    hot = jax.nn.one_hot(labels, 5)  # finding
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels) + hot.sum(-1)  # finding


labels = np.random.default_rng(0).integers(1, 6, size=8)
loss(jnp.zeros((8, 5)), jnp.asarray(labels, jnp.int32))


@jax.jit
def fill(cache, row):
    def body(i, cache):
        return jax.lax.dynamic_update_slice(cache, row[None], (i, 0))  # finding

    return jax.lax.fori_loop(0, 128, body, cache)


fill(jnp.zeros((64, 8)), jnp.ones(8))


@jax.jit
def bins(x, values):
    index = jnp.clip(x.astype(jnp.int32), 0, 10)
    return jax.ops.segment_sum(values, index, 10)  # finding


@jax.jit
def mark(key, q):
    explore = jax.random.bernoulli(key, 0.1)
    action = jnp.where(explore, jax.random.randint(key, (), 0, 5), 0)
    return q.at[action].add(1.0)  # finding


mark(jax.random.key(0), jnp.zeros(4))


@jax.jit
def positions(x, table):
    return table[jnp.arange(x.shape[0])]  # finding


positions(jnp.zeros(300), jnp.zeros((256, 8)))


class Encoder(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Embed(100, 8)(jnp.arange(101)) + x  # finding


Encoder().init(jax.random.key(0), jnp.ones((101, 8)))
