# blind: ninth

import jax
import jax.numpy as jnp

CONFIG = {"lr": 0.05, "inner_steps": 4, "clip": 1.0}


def inner_loop(params, task, hp):
    for _ in range(hp["inner_steps"]):  # finding
        grads = jax.grad(lambda p: jnp.mean((task["x"] @ p - task["y"]) ** 2))(params)
        params = params - hp["lr"] * jnp.clip(grads, -hp["clip"], hp["clip"])
    return params


def outer_loss(params, tasks, hp):
    adapted = jax.vmap(inner_loop, in_axes=(None, 0, None))(params, tasks, hp)
    return jnp.mean(jax.vmap(lambda p, t: jnp.mean((t["x"] @ p - t["y"]) ** 2))(adapted, tasks))


meta_grad = jax.jit(jax.grad(outer_loss))

if __name__ == "__main__":
    tasks = {"x": jnp.ones((3, 8, 2)), "y": jnp.zeros((3, 8))}
    print(meta_grad(jnp.ones(2), tasks, CONFIG))
