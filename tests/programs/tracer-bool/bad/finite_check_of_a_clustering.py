# source: scipy/scipy#22219
# blind: ninth

from functools import partial

import jax
import jax.numpy as jnp


def as_array(x, check_finite):
    x = jnp.asarray(x)
    if check_finite and not jnp.all(jnp.isfinite(x)):  # finding
        raise ValueError("array must not contain infs or NaNs")
    return x


def assign(obs, centers):
    distance = ((obs[:, None] - centers) ** 2).sum(-1)
    return distance.argmin(1)


@partial(jax.jit, static_argnames=("iters", "check_finite"))
def kmeans(obs, centers, iters=10, check_finite=True):
    obs = as_array(obs, check_finite)

    def step(_, centers):
        one_hot = jax.nn.one_hot(assign(obs, centers), centers.shape[0])
        return one_hot.T @ obs / jnp.maximum(one_hot.sum(0)[:, None], 1)

    return jax.lax.fori_loop(0, iters, step, centers)


if __name__ == "__main__":
    obs = jax.random.normal(jax.random.key(0), (50, 2))
    print(kmeans(obs, obs[:3]))
