# source: patrick-kidger/equinox#1097
# blind: third

import functools

import equinox as eqx
import jax
import jax.numpy as jnp


class Tower(eqx.Module):
    layers: list

    def __init__(self, widths, key):
        keys = jax.random.split(key, len(widths) - 1)
        self.layers = [
            eqx.nn.Linear(i, o, key=k) for i, o, k in zip(widths, widths[1:], keys)
        ]

    def __call__(self, x):
        for layer in self.layers[:-1]:
            x = jax.nn.gelu(layer(x))
        return self.layers[-1](x)


@functools.partial(jax.jit, static_argnums=1)
def loss(params, static, x, y):  # finding-also
    model = eqx.combine(params, static)
    return jnp.mean((jax.vmap(model)(x) - y) ** 2)


def main():
    model = Tower([3, 8, 1], jax.random.key(0))
    params, static = eqx.partition(model, eqx.is_array)
    print(loss(params, static, jnp.ones((5, 3)), jnp.zeros((5, 1))))  # finding


if __name__ == "__main__":
    main()
