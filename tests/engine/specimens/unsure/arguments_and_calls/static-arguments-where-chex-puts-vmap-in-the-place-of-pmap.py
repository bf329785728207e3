# static arguments where chex puts vmap in the place of pmap
import dataclasses

import chex
import jax
import jax.numpy as jnp

@dataclasses.dataclass
class Scale:
    by: int

def scaled(x, scale):
    return x * scale.by

with chex.fake_pmap_and_jit():
    print(jax.pmap(scaled, static_broadcasted_argnums=1)(jnp.ones((1, 2)), Scale(2)))
