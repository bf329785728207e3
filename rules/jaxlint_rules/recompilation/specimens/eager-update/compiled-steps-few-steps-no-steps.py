# compiled steps, steps whose caller compiles them, few steps, no loop

import jax
import jax.numpy as jnp
import optax

optimizer = optax.sgd(0.1)


def loss_fn(params, x):
    return jnp.mean((x @ params) ** 2)


@jax.jit
def compiled(params, state, x):
    grads = jax.grad(loss_fn)(params, x)
    updates, state = optimizer.update(grads, state)
    return optax.apply_updates(params, updates), state


def step(params, state, x):
    grads = jax.grad(loss_fn)(params, x)
    updates, state = optimizer.update(grads, state)
    return optax.apply_updates(params, updates), state


jitted = jax.jit(step)
update = jax.jit(optimizer.update)


@jax.jit
def unrolled(params, state, xs):
    for x in xs:
        updates, state = optimizer.update(jax.grad(loss_fn)(params, x), state)
        params = optax.apply_updates(params, updates)
    return params


def train(params, state, batches):
    for x in batches:
        params, state = compiled(params, state, x)
        params, state = jitted(params, state, x)
        updates, state = update(params, state)
        print(params)
    for _ in range(2):
        updates, state = optimizer.update(params, state)
        params = optax.apply_updates(params, updates)
    return params


def once(params, state, x):
    updates, state = optimizer.update(jax.grad(loss_fn)(params, x), state)
    print(optax.apply_updates(params, updates), state)


def by_scan(params, state, xs):
    def body(carry, x):
        params, state = carry
        updates, state = optimizer.update(jax.grad(loss_fn)(params, x), state)
        return (optax.apply_updates(params, updates), state), None

    return jax.lax.scan(body, (params, state), xs)
