# a loss of a library: its training step compiles it, its validation does not

import functools

import jax
import jax.numpy as jnp
import optax

def fit(flow, optimizer, batches, held_out, epochs):
    def loss(flow, x):
        return -flow.log_prob(x).mean()

    @functools.partial(jax.jit, donate_argnums=(0, 1))
    def step(flow, state, x):
        value, gradient = jax.value_and_grad(loss)(flow, x)
        updates, state = optimizer.update(gradient, state)
        return optax.apply_updates(flow, updates), state, value

    state = optimizer.init(flow)
    for epoch in range(epochs):
        for x in batches:
            flow, state, value = step(flow, state, x)
        total = 0.0
        for x in held_out:
            total += loss(flow, x)  # finding
    return flow, total

def fit_with_a_compiled_loss(flow, optimizer, batches, held_out, epochs):
    @jax.jit
    def loss(flow, x):
        return -flow.log_prob(x).mean()

    @functools.partial(jax.jit, donate_argnums=(0, 1))
    def step(flow, state, x):
        value, gradient = jax.value_and_grad(loss)(flow, x)
        updates, state = optimizer.update(gradient, state)
        return optax.apply_updates(flow, updates), state, value

    state = optimizer.init(flow)
    for epoch in range(epochs):
        for x in batches:
            flow, state, value = step(flow, state, x)
        total = 0.0
        for x in held_out:
            total += loss(flow, x)
    return flow, total

@jax.jit
def energy(w, x):
    return jnp.mean((x @ w) ** 2)

def fit_with_a_loss_of_compiled_parts(w, batches, held_out):
    def loss(w, x):
        return energy(w, x) + 0.1

    gradient = jax.jit(jax.grad(loss))
    for x in batches:
        w = w - 0.1 * gradient(w, x)
    total = 0.0
    for x in held_out:
        total += loss(w, x)
    return w, total

def fit_and_look_now_and_then(flow, batches, epochs):
    def loss(flow, x):
        return -flow.log_prob(x).mean()

    gradient = jax.jit(jax.grad(loss))
    for epoch in range(epochs):
        for x in batches:
            flow = jax.tree.map(lambda p, g: p - 0.1 * g, flow, gradient(flow, x))
        if epoch % 50 == 0:
            print(epoch, loss(flow, x))
    return flow

def chain(flow, x, steps):
    def loss(flow, x):
        return -flow.log_prob(x).mean()

    for i in range(steps):  # nothing compiles it
        x = x - 0.1 * loss(flow, x)
    return x
