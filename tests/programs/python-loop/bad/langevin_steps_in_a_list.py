# source: noegroup/ScoreMD#7
# blind: seventh

from functools import partial

import jax
import jax.numpy as jnp


def score(params, x, t):
    h = jnp.tanh(x @ params["w"] + t * params["b"])
    return h @ params["w"].T - x


@partial(jax.jit, static_argnames=("num_steps",))
def sample(params, key, x, step_size, num_steps=200):
    trajectory = []
    for key in jax.random.split(key, num_steps):  # finding
        noise = jax.random.normal(key, x.shape)
        x = x + step_size * score(params, x, 0.1) + jnp.sqrt(2 * step_size) * noise
        trajectory.append(x)
    return jnp.stack(trajectory)


if __name__ == "__main__":
    params = {"w": jnp.eye(3), "b": jnp.ones(3)}
    print(sample(params, jax.random.key(0), jnp.zeros((8, 3)), 1e-2, 20).shape)
