# source: jax-ml/jax#347
# blind: seventh

import jax
import jax.numpy as jnp


def log_dilution(concentration):
    return jnp.nan_to_num(jnp.log(concentration), neginf=-20.0)  # finding


def dose_response(params, dose):
    x = log_dilution(params["potency"] * dose)
    return params["top"] * jax.nn.sigmoid(params["slope"] * (x - params["mid"]))


def loss(params, dose, response):
    return jnp.mean((dose_response(params, dose) - response) ** 2)


fit_step = jax.jit(jax.value_and_grad(loss))


def fit(dose, response, steps=5):
    params = {k: jnp.array(v) for k, v in dict(potency=0.9, top=1.0, slope=1.0, mid=0.0).items()}
    for _ in range(steps):
        value, grads = fit_step(params, dose, response)
        params = jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)
    return params, value


if __name__ == "__main__":
    dose = jnp.linspace(0.0, 2.0, 9)
    print(fit(dose, dose / 2.0))
