# required arguments by position, by keyword and unpacked, optional ones, and what `changed-signature` reports
import equinox as eqx
import flax.linen as nn
import haiku as hk
import jax
import jax.numpy as jnp
import optax
from flax import nnx

from mine import adamw


def optimizer(rate, options):
    schedule = optax.warmup_cosine_decay_schedule(0.0, rate, warmup_steps=10, decay_steps=100)
    settings = {"learning_rate": schedule, **options}
    return optax.adamw(schedule, b1=0.9, mu_dtype=jnp.bfloat16), optax.adam(**settings), adamw(beta1=0.9)


def batch(key, bounds, args):
    rows = jax.random.randint(key, (32,), *bounds)
    more = jax.random.randint(key=key, shape=(32,), minval=0, maxval=9)
    return rows, more, jnp.split(*args), jax.lax.scan(lambda c, _: (c, None), 0.0, length=3)


class Head(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.LayerNorm()(nn.Dense(features=4, name="first")(x))
        return nn.Dense(3, False, parent=None)(x)


def layers(key, rngs):
    yield eqx.nn.Linear(3, 4, key=key)
    yield eqx.nn.MLP(3, "scalar", 8, 2, jax.nn.silu, key=key)
    yield hk.Linear(4, with_bias=False, name="last")
    yield nnx.Linear(3, 4, rngs=rngs)
    yield nnx.Dropout(0.1)
    yield nnx.MultiHeadAttention(num_heads=2, in_features=8, decode=False, rngs=rngs)


@eqx.filter_jit(donate="all")
def step(model, x):
    return model(x)


@nn.nowrap
def helper():
    try:
        return jnp.split(jnp.ones(4))
    except TypeError:
        return None


class Cell(nn.Module):
    @nn.compact
    def __call__(self, carry, x):
        return nn.GRUCell()(carry, x)
