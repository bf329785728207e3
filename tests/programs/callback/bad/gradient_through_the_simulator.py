# source: jax-ml/jax#30401
# blind: seventh

"""Calibrating the inflow of a reservoir model that lives in SciPy."""

import jax
import jax.numpy as jnp
import numpy as np
from scipy.integrate import solve_ivp

TIMES = np.linspace(0.0, 10.0, 21)


def reservoir_host(inflow, outflow_rate):
    solution = solve_ivp(
        lambda t, h: inflow - outflow_rate * np.sqrt(np.maximum(h, 0.0)), (0.0, 10.0), [1.0], t_eval=TIMES
    )
    return solution.y[0].astype(np.float32)


def level(inflow, outflow_rate):
    return jax.pure_callback(  # finding
        reservoir_host,
        jax.ShapeDtypeStruct(TIMES.shape, jnp.float32),
        inflow,
        outflow_rate,
        vmap_method="sequential",
    )


def misfit(params, observed):
    return jnp.mean((level(params["inflow"], params["rate"]) - observed) ** 2)


@jax.jit
def calibrate(params, observed):
    grads = jax.grad(misfit)(params, observed)  # finding-also
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)


if __name__ == "__main__":
    params = {"inflow": jnp.array(0.5), "rate": jnp.array(0.3)}
    print(calibrate(params, jnp.ones(21)))
