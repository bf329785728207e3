# around one of several stages, around a scan in a scan, without barriers in a loop of JAX

import functools
import jax
import jax.numpy as jnp

def layer(h, w):
    return h + jax.nn.gelu(h @ w["up"]) @ w["down"], None

def encode(stack, x):
    return jax.lax.scan(layer, x, stack)[0]

def decode(stack, x):
    return jax.lax.scan(jax.checkpoint(layer, prevent_cse=False), x, stack)[0]

def refine(stack, x):
    for _ in range(3):
        x = jnp.tanh(x @ stack["up"][0]) @ stack["down"][0]
    return x

@functools.partial(jax.checkpoint, prevent_cse=False)
def block(w, x):
    return layer(x, w)[0]

@jax.jit
def step(stack, stages, x, y):
    def two_parts(stack):
        return jnp.mean((refine(stack, jax.checkpoint(encode)(stack, x)) - y) ** 2)

    def in_stages(stages):
        h = x
        for stack in stages:
            h = jax.checkpoint(encode)(stack, h)
        return jnp.mean((h - y) ** 2)

    def in_a_scan(stack):
        h = jax.lax.scan(lambda h, w: (block(w, h), None), x, stack)[0]
        return jnp.mean((decode(stack, h) - y) ** 2)

    return jax.grad(two_parts)(stack), jax.grad(in_stages)(stages), jax.grad(in_a_scan)(stack)

def main():
    stack = {"up": jnp.ones((4, 8, 32)), "down": jnp.ones((4, 32, 8))}
    return step(stack, [stack, stack], jnp.ones(8), jnp.ones(8))

main()
