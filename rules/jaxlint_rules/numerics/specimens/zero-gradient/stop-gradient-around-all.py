# stop_gradient around all that depends on the parameters

import jax
import jax.numpy as jnp


def encode(params, x):
    hidden = jax.nn.relu(x @ params["w"])
    return hidden / (1.0 + jnp.abs(hidden))


def loss(params, target, one, two):
    online = jax.lax.stop_gradient(encode(params, one))  # finding
    return jnp.mean(jnp.sum(online * encode(target, two), axis=-1))


def quantized(params, codes, x):
    z = encode(params, x)
    nearest = codes[jnp.argmin(jnp.abs(z - codes), axis=-1)]
    return jnp.mean((z + jax.lax.stop_gradient(nearest - z)) ** 2)


def bootstrapped(params, target, one, two):
    return jnp.mean((encode(params, one) - jax.lax.stop_gradient(encode(params, two))) ** 2)


def main(key):
    params, target = {"w": jnp.ones((4, 4))}, {"w": jnp.zeros((4, 4))}
    one, two = jax.random.normal(key, (8, 4)), jnp.ones((8, 4))
    a = jax.grad(loss)(params, target, one, two)
    return a, jax.grad(quantized)(params, jnp.ones(4), one), jax.grad(bootstrapped)(params, target, one, two)
