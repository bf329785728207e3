import jax
import jax.numpy as jnp
import optax

logits = jax.random.normal(jax.random.key(0), (32, 100))
labels = jax.nn.one_hot(jnp.arange(32) % 10, 10)
print(optax.softmax_cross_entropy(logits, labels).mean())  # finding
