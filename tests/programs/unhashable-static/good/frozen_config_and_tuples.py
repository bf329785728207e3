# source: google/flax#1264
# blind: sixth

"""Static arguments that hash."""
import dataclasses
import functools

import jax
import jax.numpy as jnp


@dataclasses.dataclass(frozen=True)
class Config:
    sizes: tuple[int, ...] = (8, 4)
    activation: str = "tanh"


@functools.partial(jax.jit, static_argnames=("config", "axes"))
def forward(x, config, axes=(0,)):
    for size in config.sizes:
        x = getattr(jnp, config.activation)(x[..., :size])
    return x.sum(axis=axes)


def main():
    sizes = [8, 4]
    config = Config(sizes=tuple(sizes))
    print(forward(jnp.ones((2, 8)), config, axes=tuple([0])))


if __name__ == "__main__":
    main()
