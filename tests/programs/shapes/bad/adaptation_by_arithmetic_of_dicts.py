# blind: twelfth

import jax
import jax.numpy as jnp


def predict(params, x):
    return jnp.tanh(x @ params["hidden"]) @ params["out"]


def task_loss(params, task):
    x, y = task
    return jnp.mean((predict(params, x) - y) ** 2)


def adapt(params, support, inner_lr=0.1, steps=3):
    for _ in range(steps):
        grads = jax.grad(task_loss)(params, support)
        params = params - inner_lr * grads  # finding
    return params


def meta_loss(params, tasks):
    def one(support, query):
        return task_loss(adapt(params, support), query)

    return jnp.mean(jax.vmap(one)(*tasks))


@jax.jit
def meta_step(params, tasks):
    grads = jax.grad(meta_loss)(params, tasks)
    return jax.tree.map(lambda p, g: p - 1e-3 * g, params, grads)


if __name__ == "__main__":
    p = {"hidden": jnp.ones((2, 8)), "out": jnp.ones((8, 1))}
    t = (jnp.ones((4, 5, 2)), jnp.ones((4, 5, 1)))
    meta_step(p, (t, t))
