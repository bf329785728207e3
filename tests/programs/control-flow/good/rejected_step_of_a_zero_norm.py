# blind: twelfth

import jax
import jax.numpy as jnp


def accept(state, grad):
    x = state["x"] - state["lr"] * grad
    return {"x": x, "lr": 1.1 * state["lr"], "norm": jnp.linalg.norm(grad), "count": state["count"] + 1}


def reject(state, grad):
    return {**state, "lr": 0.5 * state["lr"], "norm": jnp.zeros_like(state["norm"])}


def descend(f, x0):
    def body(_, state):
        grad = jax.grad(f)(state["x"])
        better = f(state["x"] - state["lr"] * grad) < f(state["x"])
        return jax.lax.cond(better, accept, reject, state, grad)

    init = {"x": x0, "lr": jnp.float32(0.1), "norm": jnp.float32(0), "count": jnp.int32(0)}
    return jax.lax.fori_loop(0, 50, body, init)


if __name__ == "__main__":
    print(descend(lambda x: jnp.sum(x**2), jnp.ones(3)))
