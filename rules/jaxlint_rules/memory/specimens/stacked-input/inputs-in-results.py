# parameters in the carry and inputs that come back stacked

import jax
import jax.numpy as jnp


def run(params, x, n):
    def body(carry, _):
        params, h = carry
        h = jnp.tanh(h @ params["w"])
        return (params, h), (params, h)

    (_, h), (_, hs) = jax.lax.scan(body, (params, x), None, length=n)  # finding
    return hs


def smooth(a, xs):
    def body(y, x):
        y = a * y + (1 - a) * x
        return y, (x, y)

    _, (inputs, outputs) = jax.lax.scan(body, jnp.zeros(xs.shape[1:]), xs)  # finding
    return outputs - inputs
