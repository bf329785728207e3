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
    return jax.lax.fori_loop(0, n_iter, body, start)  # finding


def transport_cost(x, y, n_iter):
    cost = jnp.sum((x[:, None] - y[None]) ** 2, -1)
    f, g = sinkhorn(cost, 0.1, n_iter)
    return f.mean() + g.mean()


@jax.jit
def flow_step(x, y, n_iter):
    return x - 0.1 * jax.grad(transport_cost)(x, y, n_iter)  # finding-also


if __name__ == "__main__":
    x = jax.random.normal(jax.random.key(0), (5, 2))
    print(flow_step(x, x + 1.0, 20))
