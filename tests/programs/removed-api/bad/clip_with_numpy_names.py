# source: waymo-research/waymax#77
# blind: second

import chex
import jax
import jax.numpy as jnp


@chex.dataclass
class PpoConfig:
    clip: float = 0.2
    value_clip: float = 10.0


def ratio_loss(logp, old_logp, advantage, config):
    ratio = jnp.exp(logp - old_logp)
    clipped = jnp.clip(ratio, a_min=1 - config.clip, a_max=1 + config.clip)  # finding
    return -jnp.mean(jnp.minimum(ratio * advantage, clipped * advantage))


def value_loss(value, target, config):
    error = jnp.clip(value - target, -config.value_clip, config.value_clip)
    return 0.5 * jnp.mean(error**2)


@jax.jit
def ppo_loss(batch, config):
    policy = ratio_loss(batch["logp"], batch["old"], batch["advantage"], config)
    return policy + 0.5 * value_loss(batch["value"], batch["target"], config)


if __name__ == "__main__":
    ones = jnp.ones(8)
    names = ("logp", "old", "advantage", "value", "target")
    print(ppo_loss({name: ones for name in names}, PpoConfig()))
