# a result of the same shape and dtype takes the buffer

import functools

import jax
import jax.numpy as jnp

@functools.partial(jax.jit, donate_argnames=("carry",))
def rollout(params, carry, length=64):
    return jax.lax.fori_loop(0, length, lambda _, s: jnp.tanh(s @ params), carry)

@functools.partial(jax.jit, donate_argnums=(0, 1))
def merge(left, right):
    return left + right

@functools.partial(jax.jit, donate_argnums=0)
def halve(x):
    return x.astype(jnp.bfloat16)

@functools.partial(jax.jit, donate_argnums=0)
def pair(state):
    return {"a": state["a"] * 2, "b": state["b"] + 1}

def evaluate(params, initial, n):
    total = 0.0
    for _ in range(n):
        total = total + rollout(params, carry=initial).mean()  # finding
    return total

def main():
    evaluate(jnp.eye(4), jnp.ones((8, 4)), 3)
    left, right = jnp.ones(3), jnp.ones(3)
    print(merge(left, right), right.sum())  # one result takes one buffer
    x = jnp.ones(5)
    print(halve(x), x.sum())  # no result has its dtype
    state = {"a": jnp.ones(2), "b": jnp.zeros(2, jnp.int32)}
    new = pair(state)
    print(new, state["a"])  # finding

main()
