import jax
import jax.numpy as jnp


def init_params(key):
    keys = jax.random.split(key, 2)
    return {
        "w1": jax.random.normal(keys[0], (784, 128)) * 0.01,
        "b1": jnp.zeros(128),
        "w2": jax.random.normal(keys[1], (128, 10)) * 0.01,
        "b2": jnp.zeros(10),
    }


def predict(params, x):
    h = jax.nn.relu(x @ params["w1"] + params["b1"])
    return h @ params["w2"] + params["b2"]


params = init_params(jax.random.key(0))
print(jax.jit(predict)(params, jnp.ones((32, 784))).shape)
print(predict(params, jnp.ones(784)).shape)
