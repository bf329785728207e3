# source: apple/axlearn#1171
# blind: eighteenth

import functools

import jax
import jax.numpy as jnp
import optax


@functools.partial(jax.checkpoint, prevent_cse=False, static_argnums=(2,))
def block(x, w, approximate):
    h = jax.nn.gelu(x @ w["up"], approximate=approximate)
    return x + h @ w["down"]


def stack(params, x, approximate=True):
    def body(h, w):
        return block(h, w, approximate), None

    return jax.lax.scan(body, x, params)[0]


def init(key, depth, dim):
    k1, k2 = jax.random.split(key)
    return {
        "up": jax.random.normal(k1, (depth, dim, 2 * dim)) / dim**0.5,
        "down": jax.random.normal(k2, (depth, 2 * dim, dim)) / (4 * dim) ** 0.5,
    }


tx = optax.sgd(1e-2)


@functools.partial(jax.jit, donate_argnums=(0, 1))
def step(params, opt_state, x):
    loss, grads = jax.value_and_grad(lambda p: jnp.mean(stack(p, x) ** 2))(params)
    updates, opt_state = tx.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


if __name__ == "__main__":
    params = init(jax.random.key(0), 4, 8)
    opt_state = tx.init(params)
    for _ in range(3):
        params, opt_state, loss = step(params, opt_state, jnp.ones((2, 8)))
    print(loss)
