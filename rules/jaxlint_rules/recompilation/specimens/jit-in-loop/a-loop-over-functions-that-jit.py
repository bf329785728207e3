# a loop that calls one function after the other, and one that calls a function again and again

import jax
import jax.numpy as jnp


def compiles():
    return jax.jit(lambda x: x @ x)(jnp.ones((4, 4)))


def adds():
    return jax.jit(lambda x: x + x)(jnp.ones((4, 4)))


def multiplies():
    return jax.jit(lambda x: x * x)(jnp.ones((4, 4)))  # finding


def examine(checks):
    return [check() for check in checks]


def doctor():
    for check in (compiles, adds):
        print(check().sum())


def again(n):
    for _ in range(n):
        print(multiplies().sum())


doctor()
again(10)
