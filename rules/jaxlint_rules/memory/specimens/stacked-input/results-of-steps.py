# what each step computed, and the carry as it was before the step

import jax
import jax.numpy as jnp


def run(params, x, xs):
    def body(h, x):
        new = jnp.tanh(h @ params["w"] + x)
        return new, h

    return jax.lax.scan(body, x, xs)


def train(params, xs):
    def body(params, x):
        params = params - 0.1 * x
        return params, (params, x.mean())

    return jax.lax.scan(body, params, xs)
