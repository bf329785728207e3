# source: jax-ml/jax#14127
# blind: first

import dataclasses

import jax
import jax.numpy as jnp


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class FilterConfig:
    taps: int
    cutoff: float


def design(cfg):
    n = jnp.arange(cfg.taps) - (cfg.taps - 1) / 2  # finding
    return jnp.sinc(2 * cfg.cutoff * n) * jnp.hanning(cfg.taps)  # finding-also


@jax.jit
def smooth(cfg, signal):
    return jnp.convolve(signal, design(cfg), mode="same")


if __name__ == "__main__":
    print(smooth(FilterConfig(taps=9, cutoff=0.2), jnp.ones(32)))
