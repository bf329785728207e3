# source: jax-ml/jax#9675

import jax
import jax.numpy as jnp


def loss_fn(params, x):
    return jnp.mean((jnp.tanh(x @ params["w"]) - 0.5) ** 2)


def _train_step(params, x):
    loss, grads = jax.value_and_grad(loss_fn)(params, x)
    return jax.tree.map(lambda p, g: p - 0.5 * g, params, grads), loss


train_step = jax.jit(_train_step, donate_argnums=(0,))


def train(params, batches):
    checkpoint = {"step": 0, "params": params}
    for i, x in enumerate(batches):
        params, loss = train_step(params, x)  # finding-also
        if i and not jnp.isfinite(loss):
            params = checkpoint["params"]
    return jax.tree.map(lambda a, b: a - b, params, checkpoint["params"])  # finding


if __name__ == "__main__":
    print(train({"w": jnp.ones((3, 2))}, [jnp.ones((4, 3))] * 3))
