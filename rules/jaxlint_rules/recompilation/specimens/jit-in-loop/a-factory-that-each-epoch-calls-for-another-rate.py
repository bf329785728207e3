# a factory that each epoch calls for another rate, or for the same

import jax
import jax.numpy as jnp
import optax

def make_step(loss, tx):
    @jax.jit
    def step(w, state, x):  # finding
        updates, state = tx.update(jax.grad(loss)(w, x), state)
        return optax.apply_updates(w, updates), state

    return step

def make_loss(scale):
    return jax.jit(lambda w, x: scale * jnp.sum(w * x))  # finding

def loss(w, x):
    return jnp.sum((w * x) ** 2)

def fit(w, xs, epochs, rate):
    for epoch in range(epochs):
        tx = optax.sgd(rate * 0.9**epoch)
        state = tx.init(w)
        step = make_step(loss, tx)
        for x in xs:
            w, state = step(w, state, x)
    return w

def total(w, xs, epochs):
    for _ in range(epochs):
        value = make_loss(0.5)
        for x in xs:
            w = w - value(w, x)
    return w

fit(jnp.ones(3), [jnp.ones(3)] * 5, 10, 0.1)
total(jnp.ones(3), [jnp.ones(3)] * 5, 10)
