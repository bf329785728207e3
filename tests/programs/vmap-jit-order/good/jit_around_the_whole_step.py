# source: google/jax#2083
# blind: first

import jax
import jax.numpy as jnp
import optax


def loss_fn(params, x):
    return jnp.mean((x @ params) ** 2)


grad_fn = jax.grad(loss_fn)
opt = optax.adam(1e-3)


def step(params, state, x):
    updates, state = opt.update(grad_fn(params, x), state)
    return optax.apply_updates(params, updates), state


step = jax.jit(step, donate_argnums=(0, 1))
per_example = jax.jit(jax.vmap(loss_fn, in_axes=(None, 0)))


def train(params, data):
    state = opt.init(params)
    for x in data:
        params, state = step(params, state, x)
    return params, grad_fn(params, data[0]), per_example(params, data[0])


if __name__ == "__main__":
    print(train(jnp.ones(3), [jnp.ones((2, 3))] * 2))
