# source: Qazalbash/jaxampler#5

import jax
import jax.numpy as jnp


def jitter(points, scale=0.1, key=jax.random.PRNGKey(0)):
    return points + scale * jax.random.normal(key, points.shape)


def mixup(x, y, key=jax.random.PRNGKey(1), alpha=0.2):
    lam = jax.random.beta(key, alpha, alpha)
    return lam * x + (1 - lam) * x[::-1], lam * y + (1 - lam) * y[::-1]


def augmented(batches):
    for x, y in batches:
        x = jitter(x)  # finding
        yield mixup(x, y)  # finding-also


if __name__ == "__main__":
    data = [(jnp.ones((4, 2)), jnp.arange(4.0))] * 3
    for x, y in augmented(data):
        print(y)
