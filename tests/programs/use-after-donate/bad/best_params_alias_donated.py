# source: google/flax#2104
# blind: first

import jax
import jax.numpy as jnp


def loss_fn(params, x):
    return jnp.mean((x @ params["w"]) ** 2)


def make_update(lr):
    def update(params, x):
        loss, grads = jax.value_and_grad(loss_fn)(params, x)
        return jax.tree.map(lambda p, g: p - lr * g, params, grads), loss

    return jax.jit(update, donate_argnums=(0,))


def search(params, batches):
    update = make_update(0.1)
    best_params, best = params, float("inf")
    for i, x in enumerate(batches):
        previous = params
        params, loss = update(params, x)  # finding-also
        if i % 10 == 0 and loss < best:
            best, best_params = loss, previous  # finding
    return best_params  # finding-also


if __name__ == "__main__":
    print(search({"w": jnp.ones(3)}, [jnp.ones((2, 3))] * 3))
