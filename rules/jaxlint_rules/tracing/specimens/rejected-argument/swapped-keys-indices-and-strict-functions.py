# keys, indices, labels, bits, and functions of lax that convert nothing
import jax
import jax.numpy as jnp
import optax
from jax import lax
from jax.random import normal as draw

key = jax.random.key(0)
w = jax.random.normal((3, 4), key)  # finding
b = draw(0, (3,))  # finding
mask = jax.random.bernoulli(jnp.ones(3), 0.5)  # finding
x = jnp.linspace(0.0, 1.0, 8)
counts = jnp.arange(8)
half = x[x * 4]  # finding
both = (x > 0.5) & (x * 2)  # finding
total = jax.ops.segment_sum(x, x, num_segments=4)  # finding
narrow = lax.exp(counts)  # finding
wide = lax.max(x, counts)  # finding
placed = lax.dynamic_update_slice(x, counts[:2], (0,))  # finding


@jax.jit
def loss(logits, labels):
    labels = labels.astype(jnp.int32)
    return optax.softmax_cross_entropy_with_integer_labels(labels, logits).mean()  # finding


@jax.jit
def middle(x):
    return jnp.take(x, jnp.linspace(0.0, 3.0, 4))  # finding


print(loss(jnp.ones((8, 3)), counts), middle(x))
