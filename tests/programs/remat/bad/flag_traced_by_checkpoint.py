# source: google/flax#3630
# blind: second

import dataclasses

import jax
import jax.numpy as jnp


@dataclasses.dataclass(frozen=True)
class BlockConfig:
    width: int = 32
    rate: float = 0.1
    remat: bool = True


def dropout(x, key, rate):
    keep = jax.random.bernoulli(key, 1 - rate, x.shape)
    return jnp.where(keep, x / (1 - rate), 0.0)


def block(params, x, key, train, rate):
    h = jax.nn.gelu(x @ params["up"])
    if train:  # finding-also
        h = dropout(h, key, rate)
    return x + h @ params["down"]


def stack(params, x, key, train, config):
    fn = jax.checkpoint(block) if config.remat else block
    for i, layer in enumerate(params):
        x = fn(layer, x, jax.random.fold_in(key, i), train, config.rate)  # finding
    return x


def loss_fn(params, x, key, config):
    return jnp.mean(stack(params, x, key, True, config) ** 2)


def main():
    config = BlockConfig()
    keys = jax.random.split(jax.random.key(0), 3)
    params = [
        {"up": jax.random.normal(k, (config.width, 64)), "down": jnp.zeros((64, config.width))}
        for k in keys
    ]
    step = jax.jit(jax.grad(loss_fn), static_argnames="config")
    grads = step(params, jnp.ones((2, config.width)), keys[0], config=config)
    print(grads[0]["down"].shape)


if __name__ == "__main__":
    main()
