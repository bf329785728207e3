# blind: twelfth

import jax
import jax.numpy as jnp


def take_step(state, grad):
    return {
        "x": state["x"] - state["lr"] * grad,
        "lr": state["lr"] * 1.1,
        "accepted": state["accepted"] + 1,
        "last": jnp.linalg.norm(grad),
    }


def reject_step(state, grad):
    return {"x": state["x"], "lr": state["lr"] * 0.5, "accepted": state["accepted"], "last": 0}


def descend(f, x0, iterations=50):
    def body(_, state):
        grad = jax.grad(f)(state["x"])
        proposal = state["x"] - state["lr"] * grad
        better = f(proposal) < f(state["x"])
        return jax.lax.cond(better, take_step, reject_step, state, grad)  # finding

    init = {"x": x0, "lr": jnp.float32(0.1), "accepted": jnp.int32(0), "last": jnp.float32(0)}
    return jax.lax.fori_loop(0, iterations, body, init)


if __name__ == "__main__":
    print(descend(lambda x: jnp.sum(x**2), jnp.ones(3)))
