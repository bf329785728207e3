# source: jax-ml/jax#1897
# blind: fifth

import jax
import jax.numpy as jnp


def init(key, din, dh):
    ks = jax.random.split(key, 3)
    return {n: jax.random.normal(k, (din + dh, dh)) * 0.1 for n, k in zip(("z", "r", "h"), ks)}


def gru_cell(p, h, x):
    xh = jnp.concatenate([x, h], axis=-1)
    z, r = jax.nn.sigmoid(xh @ p["z"]), jax.nn.sigmoid(xh @ p["r"])
    cand = jnp.tanh(jnp.concatenate([x, r * h], axis=-1) @ p["h"])
    return (1 - z) * h + z * cand


@jax.jit
def encode(p, xs):
    h = jnp.zeros((xs.shape[0], p["z"].shape[1]))
    states = []
    for t in range(xs.shape[1]):  # finding
        h = gru_cell(p, h, xs[:, t])
        states.append(h)
    return jnp.stack(states, axis=1)


if __name__ == "__main__":
    p = init(jax.random.key(0), 3, 16)
    print(encode(p, jnp.ones((2, 60, 3))).shape)
