# source: jax-ml/jax#9675
# blind: ninth

import jax
import jax.numpy as jnp
import optax

tx = optax.adam(1e-2)


def loss_fn(params, batch):
    return jnp.mean((batch["x"] @ params["w"] - batch["y"]) ** 2)


def train_step(params, opt_state, batch):
    updates, opt_state = tx.update(jax.grad(loss_fn)(params, batch), opt_state, params)
    return optax.apply_updates(params, updates), opt_state


def distance(a, b):
    return optax.global_norm(jax.tree.map(jnp.subtract, a, b))


def train(params, batches):
    compiled = jax.jit(train_step, donate_argnums=(0, 1))
    opt_state, drift = tx.init(params), []
    for batch in batches:
        new_params, opt_state = compiled(params, opt_state, batch)
        drift.append(distance(new_params, params))  # finding
        params = new_params
    return params, drift


if __name__ == "__main__":
    batch = {"x": jnp.ones((8, 4)), "y": jnp.zeros(8)}
    print(train({"w": jnp.ones(4)}, [batch] * 3)[1])
