# source: jax-ml/jax#9675
# blind: fifth

from functools import partial

import jax
import jax.numpy as jnp
import optax

tx = optax.adam(1e-3)


def predict(params, x):
    return jnp.tanh(x @ params["w"]) @ params["v"]


@partial(jax.jit, donate_argnums=(0, 1))
def update(params, opt_state, x, y):
    grads = jax.grad(lambda p: jnp.mean((predict(p, x) - y) ** 2))(params)
    updates, opt_state = tx.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state


def train(params, data):
    opt_state = tx.init(params)
    norms = []
    for x, y in data:
        new_params, opt_state = update(params, opt_state, x, y)
        change = jax.tree.map(lambda new, old: new - old, new_params, params)  # finding
        norms.append(optax.global_norm(change))
        params = new_params
    return params, jnp.stack(norms)


if __name__ == "__main__":
    params = {"w": jnp.ones((4, 8)) * 0.1, "v": jnp.ones((8, 1)) * 0.1}
    print(train(params, [(jnp.ones((16, 4)), jnp.zeros((16, 1)))] * 3)[1])
