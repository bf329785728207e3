# source: patrick-kidger/diffrax#111
# blind: eighteenth

import functools

import jax
import jax.numpy as jnp
import numpy as np


def padded_batches(x, y, size):
    for start in range(0, len(x), size):
        xb, yb = x[start : start + size], y[start : start + size]
        weight = np.zeros(size, np.float32)
        weight[: len(xb)] = 1.0
        pad = size - len(xb)
        if pad:
            xb = np.concatenate([xb, np.zeros((pad,) + xb.shape[1:], xb.dtype)])
            yb = np.concatenate([yb, np.zeros(pad, yb.dtype)])
        yield xb, yb, weight


@functools.lru_cache(maxsize=None)
def eval_fn(n_classes):
    @jax.jit
    def run(params, x, y, weight):
        pred = jnp.argmax(x @ params["w"] + params["b"], axis=-1)
        hits = jax.nn.one_hot(y, n_classes)[jnp.arange(y.shape[0]), pred]
        return (hits * weight).sum(), weight.sum()

    return run


def evaluate(params, x, y, size=32):
    step = eval_fn(params["b"].shape[0])
    totals = [step(params, *batch) for batch in padded_batches(x, y, size)]
    hits = sum(t[0] for t in totals)
    return hits / sum(t[1] for t in totals)


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    xs = rng.normal(size=(100, 4)).astype(np.float32)
    params = {"w": jnp.eye(4), "b": jnp.zeros(4)}
    print(evaluate(params, xs, xs.argmax(axis=1)))
