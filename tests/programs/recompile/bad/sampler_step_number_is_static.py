# source: cgiovanetti/LINX#13
# blind: fifth

import functools

import jax
import jax.numpy as jnp


@functools.partial(jax.jit, static_argnums=(2,))
def noise_schedule_step(x, eps, t):
    alpha = 1.0 - 0.02 * t / 1000
    return (x - jnp.sqrt(1.0 - alpha) * eps) / jnp.sqrt(alpha)


def predict_noise(params, x, t):
    return jnp.tanh(x @ params + t / 1000)


def sample(params, key, n_steps=1000):
    x = jax.random.normal(key, (16, params.shape[0]))
    denoise = jax.jit(predict_noise)
    for t in reversed(range(n_steps)):
        eps = denoise(params, x, jnp.float32(t))
        x = noise_schedule_step(x, eps, t)  # finding
    return x


if __name__ == "__main__":
    print(sample(jnp.eye(8), jax.random.key(0), 5).shape)
