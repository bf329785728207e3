# integers and bools as indices, raw keys, promotion of jax.numpy, and kinds that are unknown
import jax
import jax.numpy as jnp
import optax
import pytest
from jax import lax

key = jax.random.PRNGKey(0)
w = jax.random.normal(key, (3, 4))
raw = jax.random.normal(jnp.zeros(2, jnp.uint32), (3,))
x = jnp.linspace(0.0, 1.0, 8)
counts = jnp.arange(8)
half = x[counts // 2]
above = x[x > 0.5]
near = x[jnp.floor(x * 4).astype(int)]
both = (x > 0.5) & (x < 0.75)
summed = jnp.maximum(x, counts)
kept = lax.select(x > 0.5, x, jnp.zeros_like(x))
raised = lax.max(x, 0.5)
power = lax.integer_pow(x, 2)
exponent = jnp.exp(counts)


@jax.jit
def loss(logits, labels):
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels.astype(jnp.int32)).mean()


@jax.jit
def of_callers(x, index):
    return jnp.take(x, index) + lax.add(x, index)


def test_that_it_raises():
    with pytest.raises(TypeError):
        lax.add(x, counts)


def sample(rng, shape):
    return jax.random.normal(rng, shape)


class Noise:
    def sample(self, key=None, shape=()):
        return jax.random.normal(key, shape)

    def shape_of_sample(self):
        return jax.eval_shape(self.sample)


try:
    first = x[x]
except TypeError:
    first = x[0]
