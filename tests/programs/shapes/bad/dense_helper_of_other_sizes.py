# blind: eleventh

"""A helper for dense layers; the second matrix does not fit."""
import jax
import jax.numpy as jnp


def dense_init(key, fan_in, fan_out):
    w = jax.random.normal(key, (fan_in, fan_out)) / jnp.sqrt(fan_in)
    return {"w": w, "b": jnp.zeros(fan_out)}


def dense(layer, x):
    return x @ layer["w"] + layer["b"]  # finding


def init(key):
    k1, k2, k3 = jax.random.split(key, 3)
    return {
        "embed": dense_init(k1, 12, 64),
        "hidden": dense_init(k2, 32, 32),
        "head": dense_init(k3, 32, 1),
    }


def forward(params, x):
    h = jnp.tanh(dense(params["embed"], x))
    h = jnp.tanh(dense(params["hidden"], h))
    return dense(params["head"], h)[:, 0]


@jax.jit
def loss(params, x, y):
    return jnp.mean((forward(params, x) - y) ** 2)


if __name__ == "__main__":
    params = init(jax.random.key(0))
    print(loss(params, jnp.ones((16, 12)), jnp.ones(16)))
