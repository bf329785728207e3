# flags: --distance
# flags: --anchor reshape
# flags: --anchor device
"""A jitted step; the start of the training is kept by ways that need not copy."""

import argparse

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(w, v, x):
    y = jnp.tanh(x @ w)
    g = x.T @ (y * (1 - y * y)) / x.shape[0]
    v = 0.9 * v + g
    return w - 0.01 * v, v, jnp.mean(y * y)


ANCHORS = {
    "stop": jax.lax.stop_gradient,
    "reshape": lambda w: w.reshape(w.shape),
    "device": lambda w: jax.device_put(w, jax.devices()[0]),
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--distance", action="store_true")
    parser.add_argument("--anchor", default="stop")
    args = parser.parse_args()
    rng = np.random.default_rng(6)
    x = jnp.asarray(rng.normal(size=(64, 256)), jnp.float32)
    w = jnp.asarray(rng.normal(size=(256, 1024)), jnp.float32) * 0.1
    v = jnp.zeros_like(w)
    keep = args.distance or args.anchor != "stop"
    anchor = ANCHORS[args.anchor](w) if keep else None
    for i in range(60):
        w, v, loss = step(w, v, x)
        if keep and i % 20 == 19:
            print(i, f"{float(jnp.sqrt(jnp.sum((w - anchor) ** 2))):.4f}")
            anchor = ANCHORS[args.anchor](w)
    print(f"{float(loss):.5f}")


main()
