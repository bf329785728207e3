# layers of equinox that take one example and get a batch
import equinox as eqx
import jax
import jax.numpy as jnp

one, two, three = jax.random.split(jax.random.key(0), 3)
table = eqx.nn.Embedding(10, 8, key=one)
norm = eqx.nn.LayerNorm(8)
image_norm = eqx.nn.LayerNorm((4, 8))

words = table(jnp.arange(5))  # finding
rows = norm(jnp.ones((5, 8)))  # finding

word = table(jnp.asarray(3))
words = jax.vmap(table)(jnp.arange(5))
row = norm(jnp.ones(8))
rows = jax.vmap(norm)(jnp.ones((5, 8)))
image = image_norm(jnp.ones((4, 8)))
