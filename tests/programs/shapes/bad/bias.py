import jax
import jax.numpy as jnp


class Dense:
    def __init__(self, key, n_in, n_out):
        self.w = jax.random.normal(key, (n_in, n_out))
        self.b = jnp.zeros((n_in,))

    def __call__(self, x):
        return jnp.dot(x, self.w) + self.b  # finding


layer = Dense(jax.random.key(0), 64, 10)
print(layer(jnp.ones((8, 64))))
