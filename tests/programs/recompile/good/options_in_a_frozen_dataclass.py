# blind: tenth

import dataclasses
from functools import partial

import jax
import jax.numpy as jnp


@dataclasses.dataclass(frozen=True)
class Options:
    depth: int = 2
    width: int = 8


@partial(jax.jit, static_argnames="options")
def forward(x, options):
    for _ in range(options.depth):
        x = jnp.tanh(x @ jnp.ones((x.shape[-1], options.width)))
    return x


options = Options()
for _ in range(4):
    y = forward(jnp.ones((2, 8)), options=options)
print(y.sum())
