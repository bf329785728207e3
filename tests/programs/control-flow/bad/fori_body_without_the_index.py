# source: jax-ml/jax#833
# blind: sixth

"""Sinkhorn iterations."""
import jax
import jax.numpy as jnp
from jax import lax


def sinkhorn(cost, a, b, epsilon=0.1, iters=50):
    log_k = -cost / epsilon

    def update(potentials):
        f, g = potentials
        f = jnp.log(a) - jax.nn.logsumexp(log_k + g[None, :], axis=1)
        g = jnp.log(b) - jax.nn.logsumexp(log_k + f[:, None], axis=0)
        return f, g

    init = (jnp.zeros_like(a), jnp.zeros_like(b))
    f, g = lax.fori_loop(0, iters, update, init)  # finding
    return jnp.exp(log_k + f[:, None] + g[None, :])


def main():
    x = jnp.linspace(0.0, 1.0, 5)
    cost = (x[:, None] - x[None, :]) ** 2
    w = jnp.full(5, 0.2)
    print(jax.jit(sinkhorn)(cost, w, w))


if __name__ == "__main__":
    main()
