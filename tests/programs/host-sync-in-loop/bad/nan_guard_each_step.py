# source: pyro-ppl/numpyro#2247
# blind: ninth

import jax
import jax.numpy as jnp
import numpy as np
import optax


def is_bad(loss):
    return not np.isfinite(loss)  # finding-also


def make_step(tx):
    @jax.jit
    def step(params, opt_state, x, y):
        loss, grads = jax.value_and_grad(lambda p: jnp.mean((x @ p["w"] + p["b"] - y) ** 2))(params)
        updates, opt_state = tx.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, loss

    return step


def train(params, batches, lr=1e-3):
    tx = optax.adam(lr)
    opt_state = tx.init(params)
    step = make_step(tx)
    for x, y in batches:
        params, opt_state, loss = step(params, opt_state, x, y)
        if is_bad(loss):  # finding
            raise FloatingPointError("the loss is not finite")
    return params


if __name__ == "__main__":
    batches = [(jnp.ones((32, 8)), jnp.zeros(32)) for _ in range(50)]
    print(train({"w": jnp.ones(8), "b": jnp.zeros(())}, batches)["b"])
