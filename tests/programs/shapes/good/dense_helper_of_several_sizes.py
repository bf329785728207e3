# blind: eleventh
import jax
import jax.numpy as jnp


def dense_init(key, fan_in, fan_out):
    return {"w": jax.random.normal(key, (fan_in, fan_out)), "b": jnp.zeros(fan_out)}


def dense(layer, x):
    return x @ layer["w"] + layer["b"]


def init(key, sizes):
    keys = jax.random.split(key, len(sizes))
    return [dense_init(k, a, b) for k, a, b in zip(keys, sizes[:-1], sizes[1:])]


def forward(params, x):
    for layer in params[:-1]:
        x = jax.nn.relu(dense(layer, x))
    return dense(params[-1], x)


def two_towers(key, x, y):
    k1, k2 = jax.random.split(key)
    a = dense(dense_init(k1, 8, 32), x)
    b = dense(dense_init(k2, 5, 32), y)
    return a @ b.T


if __name__ == "__main__":
    print(forward(init(jax.random.key(0), [4, 64, 32, 1]), jnp.ones((7, 4))).shape)
    print(two_towers(jax.random.key(1), jnp.ones((3, 8)), jnp.ones((6, 5))).shape)
