# blind: twenty-first

from typing import NamedTuple

import jax
import jax.numpy as jnp


class Cart(NamedTuple):
    x: jax.Array
    v: jax.Array


def step(state, force):
    v = 0.98 * state.v + 0.1 * force
    x = state.x + 0.1 * v
    return Cart(x, v), -(x ** 2 + 0.1 * v ** 2)


def policy(gains, state):
    return -gains[0] * state.x - gains[1] * state.v


def episode(gains, x0, horizon=150):
    def body(carry, _):
        state, total, settled = carry
        state, reward = step(state, policy(gains, state))
        near = jnp.abs(state.x) < 0.05
        return (state, total + reward, settled + near), reward

    init = (Cart(x0, jnp.zeros_like(x0)), 0.0, jnp.zeros((), jnp.int32))
    (state, total, settled), _ = jax.lax.scan(body, init, None, length=horizon)
    return total, settled


@jax.jit
def improve(gains, starts):
    objective = lambda g: jax.vmap(lambda x: episode(g, x)[0])(starts).mean()
    value, grads = jax.value_and_grad(objective)(gains)
    return gains + 0.05 * grads / (1e-6 + jnp.linalg.norm(grads)), value


def main():
    starts = jnp.linspace(-1.0, 1.0, 8)
    gains = jnp.array([0.1, 0.1])
    values = []
    for _ in range(60):
        gains, value = improve(gains, starts)
        values.append(value)
    values = jnp.stack(values)
    settled = jax.vmap(lambda x: episode(gains, x)[1])(starts)
    print("value", float(values[0]), "->", float(values[-1]), "settled", settled)
    assert values[-1] > values[0]


if __name__ == "__main__":
    main()
