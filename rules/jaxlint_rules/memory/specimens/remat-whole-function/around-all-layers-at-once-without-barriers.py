# around all layers at once, without barriers where they are needed

import functools
import jax
import jax.numpy as jnp

def layer(h, w):
    return h + jax.nn.gelu(h @ w["up"]) @ w["down"], None

def encode(stack, x):
    return jax.lax.scan(layer, x, stack)[0]

def encode_each(layers, x):
    for w in layers:
        x = layer(x, w)[0]
    return x

@functools.partial(jax.checkpoint, prevent_cse=False)  # finding
def block(w, x):
    return layer(x, w)[0]

def squared(h, y):
    return jnp.mean((h - y) ** 2)

@jax.jit
def step(stack, layers, x, y):
    def scanned(stack):
        return squared(jax.checkpoint(encode)(stack, x), y)  # finding

    def looped(layers):
        return squared(jax.checkpoint(encode_each)(layers, x), y)  # finding

    def blocks(layers):
        h = x
        for w in layers:
            h = block(w, h)
        return squared(h, y)

    return jax.grad(scanned)(stack), jax.grad(looped)(layers), jax.grad(blocks)(layers)

def main():
    stack = {"up": jnp.ones((4, 8, 32)), "down": jnp.ones((4, 32, 8))}
    return step(stack, [{"up": jnp.ones((8, 32)), "down": jnp.ones((32, 8))}] * 4, jnp.ones(8), jnp.ones(8))

main()
