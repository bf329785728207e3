# source: jax-ml/jax#11743
# blind: first

import jax
import jax.numpy as jnp


def block(params, x, key, train):
    h = jax.nn.gelu(x @ params["w"])
    if train:  # finding
        h = h * jax.random.bernoulli(key, 0.9, h.shape)
    return x + h


remat_block = jax.checkpoint(block)  # finding-also


def loss(layers, x, key, train):
    for params in layers:
        key, sub = jax.random.split(key)
        x = remat_block(params, x, sub, train)  # finding-also
    return jnp.mean(x**2)


@jax.jit
def grads(layers, x, key):
    return jax.grad(loss)(layers, x, key, True)


if __name__ == "__main__":
    print(grads([{"w": jnp.eye(3)}] * 2, jnp.ones((2, 3)), jax.random.key(0)))
