# source: patrick-kidger/equinox#559

import equinox as eqx
import jax
import jax.numpy as jnp


class GatedBlock(eqx.Module):
    value: eqx.nn.Linear
    gate: eqx.nn.Linear
    norm: eqx.nn.LayerNorm

    def __init__(self, size, *, key):
        self.value = eqx.nn.Linear(size, size, key=key)
        self.gate = eqx.nn.Linear(size, size, key=key)  # finding
        self.norm = eqx.nn.LayerNorm(size)

    def __call__(self, x):
        h = self.norm(x)
        return x + self.value(h) * jax.nn.sigmoid(self.gate(h))


class Tower(eqx.Module):
    blocks: list

    def __init__(self, size, depth, *, key):
        self.blocks = [GatedBlock(size, key=k) for k in jax.random.split(key, depth)]

    def __call__(self, x):
        for block in self.blocks:
            x = block(x)
        return x


if __name__ == "__main__":
    tower = Tower(4, 2, key=jax.random.key(0))
    block = tower.blocks[0]
    print(tower(jnp.ones(4)), jnp.abs(block.value.weight - block.gate.weight).max())
