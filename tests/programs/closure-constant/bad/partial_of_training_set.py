# source: jax-ml/jax#21300

import functools

import jax
import jax.numpy as jnp


def log_posterior(theta, x, y):
    logits = x @ theta
    return jnp.sum(y * logits - jax.nn.softplus(logits)) - 0.5 * jnp.sum(theta**2)


def make_kernel(x, y, step_size):
    logp = functools.partial(log_posterior, x=x, y=y)

    @jax.jit
    def kernel(theta, key):
        drift = jax.grad(logp)(theta)  # finding
        noise = jax.random.normal(key, theta.shape)
        return theta + step_size * drift + jnp.sqrt(2 * step_size) * noise

    return kernel


x = jax.random.normal(jax.random.key(0), (200_000, 20))
y = (x[:, 0] > 0).astype(jnp.float32)
kernel = make_kernel(x, y, 1e-6)
theta = jnp.zeros(20)
for i in range(3):
    theta = kernel(theta, jax.random.key(i))
print(theta[:3])
