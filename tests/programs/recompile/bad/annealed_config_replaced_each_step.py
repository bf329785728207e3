# source: jax-ml/jax#11303
# blind: second
# missed: a field of a frozen config that a helper makes smaller each time

import dataclasses
from functools import partial

import jax
import jax.numpy as jnp
import optax


@dataclasses.dataclass(frozen=True)
class GumbelConfig:
    temperature: float = 1.0
    floor: float = 0.1
    hard: bool = False
    decay: float = 0.99


def relaxed_sample(logits, key, config):
    noise = jax.random.gumbel(key, logits.shape)
    soft = jax.nn.softmax((logits + noise) / config.temperature)
    if config.hard:
        index = jnp.argmax(soft, axis=-1)
        return jax.lax.stop_gradient(jax.nn.one_hot(index, soft.shape[-1]) - soft) + soft
    return soft


@partial(jax.jit, static_argnums=3)
def update(params, opt_state, key, config):
    def loss_fn(params):
        sample = relaxed_sample(params["logits"], key, config)
        return jnp.sum(sample * params["cost"])

    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, opt_state = optax.adam(1e-2).update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


def anneal(config):
    return dataclasses.replace(config, temperature=max(config.floor, config.temperature * config.decay))


def main():
    config = GumbelConfig()
    params = {"logits": jnp.zeros((4, 5)), "cost": jnp.arange(5.0)}
    opt_state = optax.adam(1e-2).init(params)
    for key in jax.random.split(jax.random.key(0), 6):
        params, opt_state, loss = update(params, opt_state, key, config)  # finding
        config = anneal(config)  # finding-also
    print(loss)


if __name__ == "__main__":
    main()
