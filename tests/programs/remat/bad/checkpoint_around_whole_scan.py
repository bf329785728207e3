# source: apple/axlearn#1171
# blind: eighteenth

import functools

import jax
import jax.numpy as jnp
import optax


def layer(x, w):
    h = jax.nn.gelu(x @ w["up"])
    return x + h @ w["down"], None


def init(key, depth, dim):
    k1, k2 = jax.random.split(key)
    return {
        "up": jax.random.normal(k1, (depth, dim, 4 * dim)) / dim**0.5,
        "down": jax.random.normal(k2, (depth, 4 * dim, dim)) / (4 * dim) ** 0.5,
    }


@jax.checkpoint  # finding
def stack(params, x):  # finding-also
    x, _ = jax.lax.scan(layer, x, params)  # finding-also
    return x


def loss_fn(params, x, y):
    return jnp.mean((stack(params, x) - y) ** 2)


def make_step(tx):
    @functools.partial(jax.jit, donate_argnums=(0, 1))
    def step(params, opt_state, x, y):
        loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
        updates, opt_state = tx.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, loss

    return step


if __name__ == "__main__":
    tx = optax.adamw(1e-3)
    params = init(jax.random.key(0), depth=6, dim=16)
    opt_state = tx.init(params)
    step = make_step(tx)
    x = jnp.ones((4, 16))
    for _ in range(2):
        params, opt_state, loss = step(params, opt_state, x, x)
    print(loss)
