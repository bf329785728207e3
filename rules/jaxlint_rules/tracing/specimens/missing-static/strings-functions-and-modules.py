# strings, functions and modules

import enum
import flax.linen as nn
import jax
import jax.numpy as jnp
import optax

class Norm(enum.Enum):
    LAYER = 1

@jax.jit
def forward(x, mode, act=jnp.tanh):
    return act(x)

def update(params, grads, optimizer):
    return optimizer.update(grads, params)

step = jax.jit(update)

def main(x, grads):
    optimizer = optax.adam(1e-3)
    a = forward(x, "layer")  # finding
    b = forward(x, 1.0, act=jax.nn.relu)  # finding
    c = forward(x, Norm.LAYER)  # finding
    d = forward({"x": x, "name": "first"}, 1)  # finding
    e = step(x, grads, optimizer)  # finding
    f = forward(x, nn.Dense(3))  # finding
    g = forward(x, jnp.float32)  # finding
    h = forward(x, lambda v: v)  # finding
    return a, b, c, d, e, f, g, h
