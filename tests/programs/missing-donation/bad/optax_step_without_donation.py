# source: goodfire-ai/spd#971
# blind: eighth

import jax
import jax.numpy as jnp
import optax


def make_step(tx, loss_fn):
    @jax.jit  # finding
    def step(params, opt_state, batch):
        loss, grads = jax.value_and_grad(loss_fn)(params, batch)
        updates, opt_state = tx.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, loss

    return step


def loss_fn(params, batch):
    return jnp.mean((jnp.tanh(batch["x"] @ params["w"]) - batch["y"]) ** 2)


def fit(params, batches):
    tx = optax.adamw(1e-3)
    opt_state = tx.init(params)
    step = make_step(tx, loss_fn)
    for batch in batches:
        params, opt_state, loss = step(params, opt_state, batch)  # finding-also
    return params, loss


if __name__ == "__main__":
    batch = {"x": jnp.ones((8, 16)), "y": jnp.zeros((8, 4))}
    print(fit({"w": jnp.ones((16, 4))}, [batch] * 3)[1])
