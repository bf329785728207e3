# source: jax-ml/jax#13756
# blind: first

import jax
import jax.numpy as jnp
import optax

tx = optax.adam(1e-3)


def loss_fn(params, x, y):
    for w in params["hidden"]:
        x = jax.nn.relu(x @ w)
    return jnp.mean((x @ params["out"] - y) ** 2)


@jax.jit
def step(params, opt_state, x, y):
    loss, grads = jax.value_and_grad(jax.checkpoint(loss_fn))(params, x, y)  # finding
    updates, opt_state = tx.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


if __name__ == "__main__":
    params = {"hidden": [jnp.ones((16, 16)) / 16] * 4, "out": jnp.ones((16, 1))}
    print(step(params, tx.init(params), jnp.ones((8, 16)), jnp.ones((8, 1)))[2])
