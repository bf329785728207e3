# a gradient or a map that is made anew

import jax
import jax.numpy as jnp

def loss(theta, x):
    return jnp.sum((theta * x) ** 2)

slope = jax.grad(loss)

def fit(theta, xs):
    for x in xs:
        theta = theta - jax.jit(jax.grad(loss))(theta, x)  # finding
    for x in xs:
        theta = theta - jax.jit(slope)(theta, x)
    return theta

def step(theta, x):
    value_and_slope = jax.jit(jax.value_and_grad(loss))  # finding
    return theta - value_and_slope(theta, x)[1]

def train(theta, xs):
    for x in xs:
        theta = step(theta, x)
    once = jax.jit(jax.vmap(loss))
    for x in xs:
        theta = theta - once(theta, x)
    return theta
