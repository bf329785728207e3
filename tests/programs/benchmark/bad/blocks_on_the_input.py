# source: gbionics/jaxsim#344
# missed: not found yet

import time

import jax
import jax.numpy as jnp


@jax.jit
def dynamics(q, v, tau):
    mass = jnp.eye(q.shape[0]) + 0.1 * jnp.outer(jnp.cos(q), jnp.cos(q))
    return jnp.linalg.solve(mass, tau - 0.1 * v)


def measure(batch, repeats=5):
    q, v, tau = (jnp.ones((batch, 7)) for _ in range(3))
    step = jax.jit(jax.vmap(dynamics))
    step(q, v, tau).block_until_ready()
    times = []
    for _ in range(repeats):
        t0 = time.time()
        acc = step(q, v, tau)
        tau.block_until_ready()
        times.append(time.time() - t0)  # finding
    return min(times), acc


if __name__ == "__main__":
    print(measure(64)[0])
