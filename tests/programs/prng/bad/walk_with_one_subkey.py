# blind: seventeenth

"""Metropolis sampling of a two dimensional banana."""
import jax
import jax.numpy as jnp
import numpy as np


def log_density(x):
    return -0.5 * (x[0] ** 2 + 4.0 * (x[1] - x[0] ** 2) ** 2)


@jax.jit
def propose(key, x, step):
    k_move, k_accept = jax.random.split(key)
    y = x + step * jax.random.normal(k_move, x.shape)
    log_ratio = log_density(y) - log_density(x)
    accept = jnp.log(jax.random.uniform(k_accept)) < log_ratio
    return jnp.where(accept, y, x), accept


def sample(seed, steps, step=0.8):
    key = jax.random.PRNGKey(seed)
    x = jnp.zeros(2)
    chain, accepted = [], []
    for _ in range(steps):
        _, sub = jax.random.split(key)  # finding
        x, ok = propose(sub, x, step)  # finding-also
        chain.append(x)
        accepted.append(ok)
    return np.asarray(jnp.stack(chain)), float(jnp.mean(jnp.stack(accepted)))


if __name__ == "__main__":
    chain, rate = sample(0, 300)
    print("acceptance", rate, "mean", chain.mean(axis=0))
