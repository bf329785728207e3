# blind: fifth

import jax
import jax.numpy as jnp


def predict_noise(params, x, t):
    return jnp.tanh(x @ params + t / 1000)


@jax.jit
def denoise(params, x, t):
    alpha = 1.0 - 0.02 * t / 1000
    return (x - jnp.sqrt(1.0 - alpha) * predict_noise(params, x, t)) / jnp.sqrt(alpha)


@jax.jit
def sample(params, key):
    x = jax.random.normal(key, (16, params.shape[0]))
    steps = jnp.arange(1000, 0, -1)
    x, _ = jax.lax.scan(lambda x, t: (denoise(params, x, t), None), x, steps)
    return x


if __name__ == "__main__":
    print(sample(jnp.eye(8), jax.random.key(0)).shape)
