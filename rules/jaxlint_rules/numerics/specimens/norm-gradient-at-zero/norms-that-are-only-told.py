# norms that are only told

import jax
import jax.numpy as jnp

def loss_fn(params, x, y):
    error = jnp.mean((x @ params["w"] + params["b"] - y) ** 2)
    return error, {"size": jnp.linalg.norm(params["w"]), "bias": jnp.sqrt(jnp.sum(params["b"] ** 2))}

def held(params, x, y):
    scale = jax.lax.stop_gradient(1.0 + jnp.linalg.norm(params["w"]))
    return jnp.mean((x @ params["w"] + params["b"] - y) ** 2) / scale

def penalised(params, x, y):
    size = jnp.linalg.norm(params["w"])  # finding
    return jnp.mean((x @ params["w"] + params["b"] - y) ** 2) + 0.1 * size, {"size": size}

def train(x, y):
    params = {"w": jnp.zeros(3), "b": jnp.zeros(2)}
    told = jax.grad(loss_fn, has_aux=True)(params, x, y)
    return told, jax.grad(held)(params, x, y), jax.grad(penalised, has_aux=True)(params, x, y)

print(train(jnp.ones((2, 3)), jnp.ones(2)))
