# source: pypomp/pypomp#23
# blind: first

import jax
import jax.numpy as jnp


def predict(params, x):
    h = jnp.tanh(params["w1"] @ x + params["b1"])
    return params["w2"] @ h


def predict_dataset(params, xs):
    return jnp.stack([predict(params, x) for x in xs])  # finding


if __name__ == "__main__":
    k1, k2, k3 = jax.random.split(jax.random.key(0), 3)
    params = {"w1": jax.random.normal(k1, (16, 3)), "b1": jnp.zeros(16), "w2": jax.random.normal(k2, (2, 16))}
    print(predict_dataset(params, jax.random.normal(k3, (300, 3))).shape)
