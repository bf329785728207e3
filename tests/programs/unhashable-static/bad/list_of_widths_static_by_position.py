# source: jax-ml/jax#4661
# blind: first

import jax
import jax.numpy as jnp


def mlp(params, x, sizes, activation=jnp.tanh):
    for layer, size in enumerate(sizes):
        x = activation(x @ params[layer][:, :size])
    return x


forward = jax.jit(mlp, static_argnums=(2, 3))


def main():
    sizes = [8, 8, 2]
    keys = jax.random.split(jax.random.key(0), len(sizes))
    dims = [4, *sizes]
    params = [jax.random.normal(k, (i, o)) for k, i, o in zip(keys, dims, dims[1:])]
    return forward(params, jnp.ones((3, 4)), sizes)  # finding


if __name__ == "__main__":
    print(main().shape)
