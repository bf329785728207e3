# source: jax-ml/jax#25186

import jax
import jax.numpy as jnp

ORDER = ["first", "second", "third"]


def init(key, width):
    keys = jax.random.split(key, len(ORDER))
    return {name: {"w": jax.random.normal(k, (width, width))} for name, k in zip(ORDER, keys)}


@jax.jit
def apply(params, x):
    for i, name in enumerate(ORDER):
        position = ORDER.index(name)
        h = jnp.tanh(x @ params[name]["w"])
        x = h + x if position == i and f"{name}" in params else h
    best = max(ORDER, key=len)
    first = next((n for n in ORDER if n.startswith("s")), None)
    return x + params[best]["w"].sum() + params[first]["w"].mean()


print(apply(init(jax.random.key(0), 4), jnp.ones((2, 4))).shape)
