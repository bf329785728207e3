# blind: twelfth

"""Sinkhorn iterations."""
import jax
import jax.numpy as jnp


def cost_matrix(x, y):
    return jnp.sum((x[:, None, :] - y[None, :, :]) ** 2, axis=-1)


def sinkhorn(x, y, epsilon=0.05, iterations=100):
    c = cost_matrix(x, y)
    n, m = c.shape
    log_a, log_b = -jnp.log(n) * jnp.ones(n), -jnp.log(m) * jnp.ones(m)

    def body(potentials, i):
        f, g = potentials  # finding
        f = -epsilon * jax.nn.logsumexp((g[None, :] - c) / epsilon + log_b[None, :], axis=1)
        g = -epsilon * jax.nn.logsumexp((f[:, None] - c) / epsilon + log_a[:, None], axis=0)
        return f, g

    f, g = jax.lax.fori_loop(0, iterations, body, (jnp.zeros(n), jnp.zeros(m)))
    plan = jnp.exp((f[:, None] + g[None, :] - c) / epsilon + log_a[:, None] + log_b[None, :])
    return jnp.sum(plan * c)


if __name__ == "__main__":
    k1, k2 = jax.random.split(jax.random.key(0))
    print(jax.jit(sinkhorn)(jax.random.normal(k1, (10, 2)), jax.random.normal(k2, (12, 2))))
