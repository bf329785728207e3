# source: jeffminlin/vmcnet#18
# blind: twenty-first

import functools

import jax
import jax.numpy as jnp
import numpy as np
import optax

tx = optax.adamw(1e-2)


def init(key, d_in=12, hidden=64, classes=4):
    k1, k2 = jax.random.split(key)
    return {
        "hidden": {"w": jax.random.normal(k1, (d_in, hidden)) / d_in ** 0.5,
                   "b": jnp.zeros((hidden,))},
        "out": {"w": jax.random.normal(k2, (hidden, classes)) / hidden ** 0.5,
                "b": jnp.zeros((classes,))},
    }


def loss_fn(params, x, y):
    h = jax.nn.gelu(x @ params["hidden"]["w"] + params["hidden"]["b"])
    logits = h @ params["out"]["w"] + params["out"]["b"]
    return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()


@functools.partial(jax.jit, donate_argnums=(0, 1))  # finding-also
def train_step(params, opt_state, x, y):
    loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
    updates, opt_state = tx.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


@jax.jit
def relative_update(old, new):
    diff = jax.tree.map(jnp.subtract, new, old)
    return optax.global_norm(diff) / optax.global_norm(old)


def main():
    rng = np.random.default_rng(0)
    params = init(jax.random.key(0))
    opt_state = tx.init(params)
    for it in range(60):
        x = rng.normal(size=(128, 12)).astype(np.float32)
        y = x[:, :4].argmax(axis=1)
        new_params, opt_state, loss = train_step(params, opt_state, x, y)  # finding-also
        if it % 20 == 0:
            ratio = relative_update(params, new_params)  # finding
            print("step", it, "loss", float(loss), "update ratio", float(ratio))
        params = new_params
    print("final loss", float(loss))


if __name__ == "__main__":
    main()
