# source: AakashKumarNain/TF_JAX_tutorials#4

import jax
import jax.numpy as jnp


def init_mlp(key, sizes):
    """He initialisation of all layers."""
    params = []
    keys = jax.random.split(key, len(sizes) - 1)
    for k, n_in, n_out in zip(keys, sizes[:-1], sizes[1:]):
        w = jax.random.normal(key, (n_in, n_out)) * jnp.sqrt(2.0 / n_in)  # finding
        params.append({"w": w, "b": jnp.zeros(n_out)})
    return params


def forward(params, x):
    for layer in params[:-1]:
        x = jax.nn.relu(x @ layer["w"] + layer["b"])
    return x @ params[-1]["w"] + params[-1]["b"]


if __name__ == "__main__":
    params = init_mlp(jax.random.PRNGKey(0), [4, 4, 4, 4])
    print(forward(params, jnp.ones((2, 4))), params[0]["w"] - params[1]["w"])
