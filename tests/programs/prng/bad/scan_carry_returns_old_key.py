# source: dunnolab/xland-minigrid#42

import jax
import jax.numpy as jnp


def hmc_kernel(potential, step_size, n_leap):
    grad = jax.grad(potential)

    def leapfrog(q, p):
        for _ in range(n_leap):
            p = p - 0.5 * step_size * grad(q)
            q = q + step_size * p
            p = p - 0.5 * step_size * grad(q)
        return q, p

    def kernel(carry, _):
        q, key = carry
        key_p, key_u = jax.random.split(key)  # finding-also
        p = jax.random.normal(key_p, q.shape)
        q_new, p_new = leapfrog(q, p)
        delta = potential(q) + 0.5 * p @ p - potential(q_new) - 0.5 * p_new @ p_new
        accept = jnp.log(jax.random.uniform(key_u)) < delta
        q = jnp.where(accept, q_new, q)
        return (q, key), q  # finding

    return kernel


@jax.jit
def sample(q0, key):
    kernel = hmc_kernel(lambda q: 0.5 * jnp.sum(q**2), 0.2, 3)
    _, chain = jax.lax.scan(kernel, (q0, key), None, length=20)  # finding-also
    return chain


if __name__ == "__main__":
    print(sample(jnp.ones(2), jax.random.key(0))[:3])
