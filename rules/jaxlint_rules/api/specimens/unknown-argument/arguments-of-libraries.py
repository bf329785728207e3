# keywords of PyTorch in optax, and arguments that flax, equinox, haiku and JAX require
import equinox as eqx
import flax.linen as nn
import haiku as hk
import jax
import jax.numpy as jnp
import optax
from flax import nnx


def optimizer(rate):
    return optax.chain(
        optax.clip_by_global_norm(1.0),
        optax.adamw(rate, beta1=0.9, beta2=0.99, weight_decay=1e-4),  # finding
    )


def batch(key, buffer, limit):
    rows = jax.random.randint(key, (32,), maxval=limit)  # finding
    first, second = jnp.split(buffer[rows])  # finding
    return first, second


class Head(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.Dense(use_bias=False)(x)  # finding
        return nn.Dense(3, bias=False)(x)  # finding


def layers(key):
    yield eqx.nn.Linear(3, 4)  # finding
    yield hk.Linear(4, bias=False)  # finding
    yield nnx.Linear(3, 4)  # finding
    yield nnx.Linear(3, 4, rngs=nnx.Rngs(0), bias=False)  # finding
