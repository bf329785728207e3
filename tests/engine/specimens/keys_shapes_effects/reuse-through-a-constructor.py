# reuse through a constructor
import jax
import jax.numpy as jnp

class Block:
    def __init__(self, dim, key):
        self.weight = jax.random.normal(key, (dim, dim))

def build(key, depth):
    return [Block(4, key) for _ in range(depth)]  # finding: key-reuse

build(jax.random.key(0), 2)
