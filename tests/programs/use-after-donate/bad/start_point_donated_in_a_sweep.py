# source: jax-ml/jax#1705
# blind: second

import functools

import jax
import jax.numpy as jnp


@functools.partial(jax.jit, static_argnames=("steps",), donate_argnames=("x",))
def descend(x, rate, steps):
    def body(_, x):
        return x - rate * jax.grad(lambda x: jnp.sum((x**2 - 1.0) ** 2))(x)

    return jax.lax.fori_loop(0, steps, body, x)


def objective(x):
    return jnp.sum((x**2 - 1.0) ** 2)


def sweep(start, rates, steps=20):
    results = {}
    for rate in rates:
        end = descend(start, rate, steps=steps)  # finding
        results[rate] = objective(end)
    return results


def best(results):
    return min(results, key=lambda rate: float(results[rate]))


if __name__ == "__main__":
    start = jax.random.normal(jax.random.key(0), (10,))
    print(best(sweep(start, [0.001, 0.01, 0.1])))
