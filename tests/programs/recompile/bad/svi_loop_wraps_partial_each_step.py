# source: pyro-ppl/numpyro#2247
# blind: fifth

import functools

import jax
import jax.numpy as jnp


def elbo(params, key, data):
    eps = jax.random.normal(key, (16,))
    z = params["loc"] + jnp.exp(params["log_scale"]) * eps
    log_lik = -0.5 * jnp.mean((data[:, None] - z[None, :]) ** 2)
    return -(log_lik + params["log_scale"])


def svi_update(params, key, data, step_size):
    loss, grads = jax.value_and_grad(elbo)(params, key, data)
    return jax.tree.map(lambda p, g: p - step_size * g, params, grads), loss


def run_svi(key, data, num_steps, step_size=0.05):
    params = {"loc": jnp.zeros(()), "log_scale": jnp.zeros(())}
    losses = []
    for i in range(num_steps):
        sub = jax.random.fold_in(key, i)
        params, loss = jax.jit(functools.partial(svi_update, step_size=step_size))(params, sub, data)  # finding
        losses.append(loss)
    return params, jnp.stack(losses)


if __name__ == "__main__":
    data = 3.0 + jax.random.normal(jax.random.key(1), (200,))
    fitted, losses = run_svi(jax.random.key(0), data, 5)
    print(fitted["loc"], losses[-1])
