# blind: thirteenth

import equinox as eqx
import jax
import jax.numpy as jnp


class Block(eqx.Module):
    weight: jax.Array

    def __init__(self, width, key):
        self.weight = 0.1 * jax.random.normal(key, (width, width))

    def __call__(self, x):
        return x + jnp.tanh(x @ self.weight)


class Deep(eqx.Module):
    blocks: Block
    heads: list

    def __init__(self, depth, width, key):
        k1, k2 = jax.random.split(key)
        self.blocks = eqx.filter_vmap(lambda k: Block(width, k))(jax.random.split(k1, depth))
        self.heads = [eqx.nn.Linear(width, 1, key=k) for k in jax.random.split(k2, 2)]

    def __call__(self, x):
        dynamic, static = eqx.partition(self.blocks, eqx.is_array)

        def body(carry, leaves):
            return eqx.combine(leaves, static)(carry), None

        out, _ = jax.lax.scan(body, x, dynamic)
        return jnp.concatenate([self.heads[i](out) for i in range(len(self.heads))])


if __name__ == "__main__":
    model = Deep(6, 16, jax.random.key(1))
    print(eqx.filter_jit(jax.vmap(model))(jnp.ones((4, 16))).shape)
