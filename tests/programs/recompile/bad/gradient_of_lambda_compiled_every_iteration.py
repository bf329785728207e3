# source: jax-ml/jax#1832
# blind: eighth

import jax
import jax.numpy as jnp


def potential(q, mass):
    return 0.5 * mass * jnp.sum(q**2) + jnp.sum(jnp.cos(q))


def hmc(q, key, mass, iterations, eps=0.05):
    for _ in range(iterations):
        key, sub = jax.random.split(key)
        p = jax.random.normal(sub, q.shape)
        force = jax.jit(jax.grad(lambda v: potential(v, mass)))  # finding
        p = p - 0.5 * eps * force(q)  # finding-also
        q = q + eps * p
    return q


if __name__ == "__main__":
    print(hmc(jnp.ones(4), jax.random.key(0), 2.0, 5))
