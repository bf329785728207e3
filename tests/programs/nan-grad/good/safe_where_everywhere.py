# source: jax-ml/jax#5798
# blind: first

import jax
import jax.numpy as jnp


def entropy(p):
    safe = jnp.where(p > 0, p, 1.0)
    return -jnp.sum(jnp.where(p > 0, p * jnp.log(safe), 0.0))


def norm(x, eps=1e-12):
    return jnp.sqrt(jnp.sum(x**2, -1) + eps)


def ratio(w):
    total = w.sum(-1, keepdims=True)
    return w / jnp.where(total == 0, 1.0, total)


def angle(a, b):
    return jnp.arctan2(jnp.linalg.norm(jnp.cross(a, b) + 1e-7), jnp.dot(a, b))


def loss(p, x):
    return entropy(jax.nn.softmax(p)) + norm(x * p).sum() + ratio(jnp.exp(p)).sum() + angle(p, x)


def report(x):
    return jnp.where(x > 0, jnp.log(x), 0.0), jnp.sqrt(x.var())


if __name__ == "__main__":
    print(jax.grad(loss)(jnp.ones(3), jnp.ones(3)), report(jnp.ones(3)))
