# steps that are compiled where the loop calls them, that few iterations or some call, and one that a scan runs

import functools

import jax
import jax.numpy as jnp
import optax

optimizer = optax.adam(1e-3)


def loss_fn(params, x):
    return jnp.mean((x @ params) ** 2)


def train_step(params, opt_state, x):
    updates, opt_state = optimizer.update(jax.grad(loss_fn)(params, x), opt_state, params)
    return optax.apply_updates(params, updates), opt_state


class Agent:
    def __init__(self, params):
        self.state = params, optimizer.init(params)
        self.step = jax.jit(self.compute)

    def compute(self, state, x):
        params, opt_state = state
        updates, opt_state = optimizer.update(jax.grad(loss_fn)(params, x), opt_state, params)
        return optax.apply_updates(params, updates), opt_state

    def learn(self, x):
        self.state = self.step(self.state, x)


def warm_up(params, opt_state, x):
    updates, opt_state = optimizer.update(jax.grad(loss_fn)(params, x), opt_state, params)
    return optax.apply_updates(params, updates), opt_state


def rare(params, opt_state, x):
    updates, opt_state = optimizer.update(jax.grad(loss_fn)(params, x), opt_state, params)
    return optax.apply_updates(params, updates), opt_state


def main(batches, xs):
    params = jnp.zeros(4)
    opt_state = optimizer.init(params)
    jitted = jax.jit(train_step)
    donating = functools.partial(jax.jit, donate_argnums=(0, 1))(train_step)
    agent = Agent(params)
    for _ in range(2):
        params, opt_state = warm_up(params, opt_state, xs[0])
    for number, x in enumerate(batches):
        params, opt_state = jitted(params, opt_state, x)
        agent.learn(x)
        if number % 100 == 0:
            params, opt_state = rare(params, opt_state, x)
    for x in batches:
        params, opt_state = donating(params, opt_state, x)
    (params, opt_state), _ = jax.lax.scan(lambda carry, x: (train_step(*carry, x), None), (params, opt_state), xs)
    return params


if __name__ == "__main__":
    from loaders import batches, xs

    main(batches, xs)
