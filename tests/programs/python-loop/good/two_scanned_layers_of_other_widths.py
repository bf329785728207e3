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
def encode(layers, xs):
    """Two layers of different widths, each a scan over time."""
    for p in layers:
        h0 = jnp.zeros((xs.shape[1], p["z"].shape[1]))

        def step(h, x, p=p):
            h = gru_cell(p, h, x)
            return h, h

        _, xs = jax.lax.scan(step, h0, xs)
    return xs


if __name__ == "__main__":
    layers = [init(jax.random.key(0), 3, 16), init(jax.random.key(1), 16, 8)]
    print(encode(layers, jnp.ones((60, 2, 3))).shape)
