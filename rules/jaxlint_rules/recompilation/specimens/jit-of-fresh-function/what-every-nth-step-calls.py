# what every n-th step calls

import jax
import jax.numpy as jnp

@jax.jit
def step(x):
    return x * 0.5

def rollout(x):
    def move(carry, _):
        return carry + x, carry

    return jax.lax.scan(move, x, None, length=10)[1]  # finding

def train(x, n):
    for i in range(n):
        x = step(x)
        if i % 100 == 0:
            print(rollout(x).sum())
    return x

def train_once(x, n):
    for i in range(n):
        x = step(x)
        if i == 100:
            print(jax.lax.scan(lambda c, _: (c + x, c), x, None, length=10)[1].sum())
    return x
