# source: jax-ml/jax#2219

import jax
import jax.numpy as jnp


def init_params(key, sizes):
    params = {}
    for i, (m, n) in enumerate(zip(sizes[:-1], sizes[1:])):
        key, sub = jax.random.split(key)
        params[f"w{i}"] = jax.random.normal(sub, (m, n)) / jnp.sqrt(m)
        params[f"b{i}"] = jnp.zeros(n)
    return params


def prune(params, threshold):
    for name in list(params):
        if name.startswith("w"):
            weak = jnp.abs(params[name]) < threshold
            params[name][weak] = 0.0  # finding
    return params


def main():
    params = init_params(jax.random.key(0), [4, 8, 2])
    pruned = prune(params, 0.1)
    print({k: v.shape for k, v in pruned.items()})


if __name__ == "__main__":
    main()
