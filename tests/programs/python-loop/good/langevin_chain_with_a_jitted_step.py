# blind: fifth

import jax
import jax.numpy as jnp


def energy(x):
    return jnp.sum((x**2 - 1.0) ** 2)


@jax.jit  # finding-other
def step(x, key, step_size):
    key, sub = jax.random.split(key)
    noise = jax.random.normal(sub, x.shape)
    return x - step_size * jax.grad(energy)(x) + jnp.sqrt(2.0 * step_size) * noise, key


def run(x, key, n_steps=200, report_every=50):
    for i in range(n_steps):
        x, key = step(x, key, 1e-3)
        if i % report_every == 0:
            print(i, float(energy(x)))
    return x


if __name__ == "__main__":
    print(run(jnp.zeros(5), jax.random.key(0)).shape)
