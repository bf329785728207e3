# variables that are bound after the function, once or to the same value

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax


def loss(params, x):
    return jnp.mean((x @ params) ** 2)


def bound_once(x):
    @jax.jit
    def scaled(x):
        return x * scale

    scale = jnp.sqrt(2.0)
    for _ in range(3):
        x = scaled(x)
    return x


def same_in_each_trial(x, rate):
    @jax.jit
    def step(params, state):
        updates, state = optimizer.update(jax.grad(loss)(params, x), state)
        return optax.apply_updates(params, updates), state

    for seed in range(5):
        optimizer = optax.adam(rate)
        params = jax.random.normal(jax.random.key(seed), (3, 3))
        state = optimizer.init(params)
        for _ in range(100):
            params, state = step(params, state)
    return params


def made_again(params, x, rates):
    for rate in rates:
        optimizer = optax.adam(rate)

        @jax.jit
        def step(params, state, optimizer=optimizer):
            updates, state = optimizer.update(jax.grad(loss)(params, x), state)
            return optax.apply_updates(params, updates), state

        state = optimizer.init(params)
        for _ in range(100):
            params, state = step(params, state)
    return params


def another_shape(x, widths):
    @jax.jit
    def forward(params, x):
        return model.apply(params, x)

    for width in widths:
        model = nn.Dense(width)
        params = model.init(jax.random.key(0), x)
        print(forward(params, x).shape)


def another_size(sizes):
    @jax.jit
    def add(x):
        return x + y

    for n in sizes:
        x, y = jnp.ones(n), jnp.zeros(n)
        add(x).block_until_ready()


def given(x, scales):
    @jax.jit
    def scaled(x, scale):
        return x * scale

    for scale in scales:
        x = scaled(x, scale)
    return x
