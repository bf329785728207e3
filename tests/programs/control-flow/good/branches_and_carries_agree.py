# source: jax-ml/jax#4416
# blind: first

import jax
import jax.numpy as jnp
from jax import lax


@jax.jit
def maybe_reset(state, done):
    return lax.cond(
        done,
        lambda s: {"h": jnp.zeros_like(s["h"]), "t": jnp.zeros_like(s["t"])},
        lambda s: {"h": s["h"], "t": s["t"] + 1},
        state,
    )


def discounted(rewards, gamma):
    def backward(acc, r):
        acc = r + gamma * acc
        return acc, acc

    return lax.scan(backward, 0.0, rewards, reverse=True)[1]


def newton(x):
    def body(_, x):
        return x - (x**2 - 2) / (2 * x)

    return lax.fori_loop(0, 5, body, x)


if __name__ == "__main__":
    print(maybe_reset({"h": jnp.ones(3), "t": jnp.array(4)}, False), jax.grad(newton)(1.0))
    print(jax.jit(discounted)(jnp.ones(4), 0.9))
