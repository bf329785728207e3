# source: google-research/ott#7

import jax
import jax.numpy as jnp


def sinkhorn(cost, epsilon, n_iter):
    def body(_, potentials):
        f, g = potentials
        f = -epsilon * jax.nn.logsumexp((g[None] - cost) / epsilon, axis=1)
        g = -epsilon * jax.nn.logsumexp((f[:, None] - cost) / epsilon, axis=0)
        return f, g

    start = jnp.zeros(cost.shape[0]), jnp.zeros(cost.shape[1])
    return jax.lax.fori_loop(0, n_iter, body, start)


def transport_cost(x, y):
    cost = jnp.sum((x[:, None] - y[None]) ** 2, -1)
    f, g = sinkhorn(jax.lax.stop_gradient(cost), 0.1, 20)
    plan = jnp.exp((f[:, None] + g[None] - cost) / 0.1)
    return jnp.sum(plan * cost)


def count_until(x, limit):
    return jax.lax.while_loop(lambda s: jnp.any(s[0] < limit), lambda s: (s[0] * 2, s[1] + 1), (x, 0))[1]


step = jax.jit(lambda x, y: x - 0.1 * jax.grad(transport_cost)(x, y))
x = jax.random.normal(jax.random.key(0), (5, 2))
print(step(x, x + 1.0), jax.jit(count_until)(jnp.ones(3), 100.0))
