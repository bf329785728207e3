import jax.numpy as jnp

prices = jnp.array([1.0, 2.0, 3.0, 4.0])
returns = prices[1:] / prices[:-1] - 1.0
table = jnp.stack([prices, returns], axis=1)  # finding
