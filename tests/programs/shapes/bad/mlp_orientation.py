import jax
import jax.numpy as jnp


def init_params(key, sizes):
    keys = jax.random.split(key, 2)
    return {
        "w1": jax.random.normal(keys[0], (128, 784)) * 0.01,
        "b1": jnp.zeros(128),
        "w2": jax.random.normal(keys[1], (128, 10)) * 0.01,
        "b2": jnp.zeros(10),
    }


def predict(params, x):
    h = jax.nn.relu(x @ params["w1"] + params["b1"])  # finding
    return h @ params["w2"] + params["b2"]


params = init_params(jax.random.key(0), None)
x = jnp.ones((32, 784))
print(jax.jit(predict)(params, x).shape)
