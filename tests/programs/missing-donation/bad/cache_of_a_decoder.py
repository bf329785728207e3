# source: jax-ml/jax#16647
# blind: ninth

from flax import struct
import jax
import jax.numpy as jnp


@struct.dataclass
class Cache:
    keys: jax.Array
    values: jax.Array
    length: jax.Array


def empty(layers, size, width):
    return Cache(jnp.zeros((layers, size, width)), jnp.zeros((layers, size, width)), jnp.int32(0))


@jax.jit  # finding
def decode(params, cache, token):
    x = params["embed"][token]
    for layer in range(2):
        k, v = x @ params["k"][layer], x @ params["v"][layer]
        keys = jax.lax.dynamic_update_slice(cache.keys, k[None, None], (layer, cache.length, 0))
        values = jax.lax.dynamic_update_slice(cache.values, v[None, None], (layer, cache.length, 0))
        cache = cache.replace(keys=keys, values=values)
        x = x + jax.nn.softmax(keys[layer] @ x) @ values[layer]
    return cache.replace(length=cache.length + 1), jnp.argmax(params["embed"] @ x)


def generate(params, token, n):
    cache, out = empty(2, 2048, 64), []
    for _ in range(n):
        cache, token = decode(params, cache, token)  # finding-also
        out.append(token)
    return out


if __name__ == "__main__":
    params = {"embed": jnp.ones((100, 64)), "k": jnp.ones((2, 64, 64)), "v": jnp.ones((2, 64, 64))}
    print(len(generate(params, jnp.int32(3), 5)))
