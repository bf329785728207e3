# source: jax-ml/jax#2251

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax


def sinkhorn(cost, a, b, eps=0.05, n_iter=100):
    """Entropic optimal transport between two histograms."""
    log_k = -cost / eps
    log_a, log_b = jnp.log(a), jnp.log(b)

    def body(_, potentials):
        f, g = potentials
        f = eps * (log_a - jax.nn.logsumexp(log_k + g[None, :] / eps, axis=1))
        g = eps * (log_b - jax.nn.logsumexp(log_k + f[:, None] / eps, axis=0))
        return f, g

    f, g = lax.fori_loop(0, n_iter, body, (jnp.zeros_like(a), jnp.zeros_like(b)))  # finding
    plan = jnp.exp(log_k + (f[:, None] + g[None, :]) / eps)
    return jnp.sum(plan * cost)


def barycentre_scores(clouds, target, weights):
    scores = []
    for cloud in clouds:
        cost = jnp.sum((cloud[:, None] - target[None]) ** 2, -1)
        scores.append(sinkhorn(cost, weights, weights))  # finding-also
    return jnp.stack(scores)


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    clouds = [jnp.asarray(rng.normal(size=(12, 2))) for _ in range(5)]
    print(barycentre_scores(clouds, clouds[0], jnp.ones(12) / 12))
