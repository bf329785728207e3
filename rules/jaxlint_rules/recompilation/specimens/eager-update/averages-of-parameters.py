# moving averages of parameters beside a compiled step
import jax
import jax.numpy as jnp
import optax

optimizer = optax.adam(1e-3)


@jax.jit
def step(params, state, target, x):
    grads = jax.grad(lambda params: jnp.mean((x @ params["w"] - x @ target["w"]) ** 2))(params)
    updates, state = optimizer.update(grads, state)
    return optax.apply_updates(params, updates), state


@jax.jit
def soft_update(params, target):
    return optax.incremental_update(params, target, 0.005)


def train(params, batches):
    target, state = params, optimizer.init(params)
    for _ in range(100000):
        params, state = step(params, state, target, batches)
        target = optax.incremental_update(params, target, 0.005)  # finding
    return params


def train_with_map(params, batches):
    target, state = params, optimizer.init(params)
    for _ in range(100000):
        params, state = step(params, state, target, batches)
        target = jax.tree.map(lambda p, t: 0.005 * p + 0.995 * t, params, target)  # finding
    return params


def train_compiled(params, batches):
    target, state = params, optimizer.init(params)
    for _ in range(100000):
        params, state = step(params, state, target, batches)
        target = soft_update(params, target)
    return params


def train_every_second_step(params, batches):
    target, state = params, optimizer.init(params)
    for turn in range(100000):
        params, state = step(params, state, target, batches)
        if turn % 2 == 0:
            target = optax.incremental_update(params, target, 0.005)  # finding
    return params


def copies(params, batches):
    target, state = params, optimizer.init(params)
    for turn in range(100000):
        params, state = step(params, state, target, batches)
        if turn % 1000 == 0:
            target = jax.tree.map(lambda p: p, params)
    return params


params = {"w": jnp.ones((8, 2))}
for run in (train, train_with_map, train_compiled, train_every_second_step, copies):
    run(params, jnp.ones((16, 8)))
