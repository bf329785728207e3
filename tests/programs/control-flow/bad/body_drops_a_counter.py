# source: jax-ml/jax#22857
# blind: ninth

import jax
import jax.numpy as jnp


def initial(x0, tol):
    return {"x": x0, "residual": jnp.asarray(jnp.inf), "tol": tol, "iters": jnp.int32(0)}


def not_converged(state):
    return (state["residual"] > state["tol"]) & (state["iters"] < 100)


def make_body(f):
    def body(state):
        x = f(state["x"])
        residual = jnp.max(jnp.abs(x - state["x"]))
        return {"x": x, "residual": residual, "iters": state["iters"] + 1}

    return body


@jax.jit
def fixed_point(x0, tol):
    final = jax.lax.while_loop(not_converged, make_body(jnp.cos), initial(x0, tol))  # finding
    return final["x"], final["iters"]


if __name__ == "__main__":
    print(fixed_point(jnp.ones(3), 1e-5))
