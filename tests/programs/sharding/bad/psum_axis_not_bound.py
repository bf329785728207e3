# source: jax-ml/jax#8839

import jax
import jax.numpy as jnp


def normalise(x, eps=1e-5):
    mean = jax.lax.pmean(x, "batch")  # finding-also
    var = jax.lax.pmean((x - mean) ** 2, axis_name="batch")  # finding-also
    return (x - mean) / jnp.sqrt(var + eps)


def encode(params, x):
    h = normalise(x @ params["w"])
    return jax.nn.relu(h) @ params["v"]


@jax.jit
def forward(params, xs):
    return jax.vmap(encode, in_axes=(None, 0), axis_name="examples")(params, xs)  # finding


if __name__ == "__main__":
    params = {"w": jnp.ones((3, 4)), "v": jnp.ones((4, 2))}
    print(forward(params, jnp.arange(15.0).reshape(5, 3)))
