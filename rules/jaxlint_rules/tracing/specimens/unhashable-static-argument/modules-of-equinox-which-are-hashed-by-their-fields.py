# modules of equinox, which are hashed by their fields

from functools import partial
import equinox as eqx
import jax
import jax.numpy as jnp

class Tower(eqx.Module):
    layers: list

    def __init__(self, key):
        self.layers = [eqx.nn.Linear(4, 4, key=k) for k in jax.random.split(key, 3)]

    def __call__(self, x):
        for layer in self.layers:
            x = jax.nn.relu(layer(x))
        return x

class Stack(eqx.Module):
    layers: tuple

    def __init__(self, key):
        self.layers = tuple(eqx.nn.Linear(4, 4, key=k) for k in jax.random.split(key, 3))

    def __call__(self, x):
        return self.layers[0](x)

class Scale(eqx.Module):
    factor: jax.Array

    @partial(jax.jit, static_argnums=0)
    def __call__(self, x):
        return x * self.factor

@partial(jax.jit, static_argnums=1)
def loss(params, static, x):
    return jnp.mean(jax.vmap(eqx.combine(params, static))(x) ** 2)

def main(key, x):
    params, static = eqx.partition(Tower(key), eqx.is_array)
    total = loss(params, static, x)  # finding
    params, static = eqx.partition(Stack(key), eqx.is_array)
    return total + loss(params, static, x) + Scale(jnp.ones(4))(x)  # finding
