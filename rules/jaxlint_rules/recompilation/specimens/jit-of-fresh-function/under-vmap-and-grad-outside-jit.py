# vmap and grad outside jit compile nothing by themselves: the scan in them is new at each call

import jax
import jax.numpy as jnp


def rollout(params, x):
    def body(x, _):
        return x * params, x

    return jax.lax.scan(body, x, None, length=10)[1]  # finding


def loss(params, x):
    def body(x, _):
        return x * params, x

    return jnp.mean(jax.lax.scan(body, x, None, length=10)[1])  # finding


def compiled_rollout(params, x):
    def body(x, _):
        return x * params, x

    return jax.lax.scan(body, x, None, length=10)[1]


def body_outside(x, _):
    return x * 0.9, x


def lasting(x):
    return jax.lax.scan(body_outside, x, None, length=10)[1]


def evaluate(params, batches):
    total = 0.0
    for xs in batches:
        total += jax.vmap(rollout, in_axes=(None, 0))(params, xs).sum()
    return total


def train(params, batches):
    for xs in batches:
        params = params - 0.1 * jax.grad(loss)(params, xs)
    return params


@jax.jit
def mapped(params, xs):
    return jax.vmap(compiled_rollout, in_axes=(None, 0))(params, xs)


def evaluate_compiled(params, batches):
    total = 0.0
    for xs in batches:
        total += mapped(params, xs).sum() + jax.vmap(lasting)(xs).sum()
    return total


many = [jnp.ones((4, 3)) for _ in range(1000)]
evaluate(1.0, many)
train(1.0, many)
evaluate_compiled(1.0, many)
