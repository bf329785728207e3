import jax
import jax.numpy as jnp


def embed(tokens, table, positions):
    x = table[tokens]
    return x + positions[: tokens.shape[1]]  # finding


tokens = jnp.zeros((4, 128), jnp.int32)
table = jnp.zeros((50257, 768))
positions = jnp.zeros((1024, 512))
print(embed(tokens, table, positions).shape)
