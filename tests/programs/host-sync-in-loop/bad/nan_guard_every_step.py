# source: p-doom/jasmine#158
# blind: first

import jax
import jax.numpy as jnp
import optax

tx = optax.sgd(1e-2)


@jax.jit
def train_step(params, opt_state, x, y):
    loss, grads = jax.value_and_grad(lambda p: jnp.mean((x @ p - y) ** 2))(params)
    updates, opt_state = tx.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


def train(params, loader):
    opt_state = tx.init(params)
    for step, (x, y) in enumerate(loader):
        params, opt_state, loss = train_step(params, opt_state, x, y)
        if jnp.isnan(loss):  # finding
            raise FloatingPointError(f"loss is NaN at step {step}")
    return params


if __name__ == "__main__":
    loader = [(jnp.ones((4, 2)), jnp.ones(4))] * 50
    print(train(jnp.zeros(2), loader))
