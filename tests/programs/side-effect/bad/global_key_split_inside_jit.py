# source: jax-ml/jax#4312
# blind: eighth

import jax
import jax.numpy as jnp

key = jax.random.PRNGKey(0)


@jax.jit
def noisy_forward(w, x):
    global key
    key, sub = jax.random.split(key)  # finding
    return jnp.tanh(x @ w) + 0.1 * jax.random.normal(sub, (x.shape[0], w.shape[1]))


if __name__ == "__main__":
    w = jnp.ones((3, 2))
    print(noisy_forward(w, jnp.ones((2, 3))))
    print(noisy_forward(w, jnp.ones((2, 3))))
