# layers that Python tells apart

import jax
import jax.numpy as jnp

PAIRS = ((0, 0), (0, 1), (1, 0), (1, 1), (1, 2), (2, 2))

def layer(w, x):
    return x + jnp.tanh(x @ w)

@jax.jit
def forward(params, x):
    for (first, second), w in zip(PAIRS, params["layers"]):
        if first == second:
            x = layer(w, x)
        else:
            x = x + layer(w, -x)
    return x

@jax.jit
def either(params, x, scanned=True):
    if scanned:
        x, _ = jax.lax.scan(lambda x, w: (layer(w, x), None), x, params["stacked"])
    else:
        for w in params["layers"]:
            x = layer(w, x)
    return x
