# source: jax-ml/ml_dtypes#63
# blind: second

import dataclasses
import functools

import jax
import jax.numpy as jnp
import optax


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class EmaState:
    params: dict
    average: dict


def decay_average(average, params, rate=0.9999):
    return jax.tree.map(lambda a, p: rate * a + (1 - rate) * p, average, params)  # finding


def init(key):
    params = {
        "w": jax.random.normal(key, (16, 16), jnp.bfloat16),
        "b": jnp.zeros(16, jnp.bfloat16),
    }
    return EmaState(params, jax.tree.map(jnp.copy, params))


def loss_fn(params, x):
    return jnp.mean((x @ params["w"] + params["b"]) ** 2).astype(jnp.float32)


@functools.partial(jax.jit, donate_argnums=0)
def update(state, x):
    grads = jax.grad(loss_fn)(state.params, x)
    params = optax.apply_updates(state.params, jax.tree.map(lambda g: -0.1 * g, grads))
    return EmaState(params, decay_average(state.average, params))


def main():
    state = init(jax.random.key(0))
    for x in jax.random.normal(jax.random.key(1), (3, 8, 16), jnp.bfloat16):
        state = update(state, x)
    print(state.average["w"].dtype)


if __name__ == "__main__":
    main()
