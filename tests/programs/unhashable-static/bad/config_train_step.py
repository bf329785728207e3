# source: jlin816/dynalang#10
# blind: twenty-first

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np


@dataclasses.dataclass  # finding-also
class TrainConfig:  # finding-also
    width: int = 32
    lr: float = 0.1
    weight_decay: float = 1e-4
    activation: str = "tanh"


ACTIVATIONS = {"tanh": jnp.tanh, "relu": jax.nn.relu, "gelu": jax.nn.gelu}


def init(key, cfg, d_in):
    k1, k2 = jax.random.split(key)
    return {
        "w1": jax.random.normal(k1, (d_in, cfg.width)) / d_in ** 0.5,
        "w2": jax.random.normal(k2, (cfg.width, 1)) / cfg.width ** 0.5,
    }


def forward(params, cfg, x):
    h = ACTIVATIONS[cfg.activation](x @ params["w1"])
    return (h @ params["w2"])[:, 0]


def loss_fn(params, cfg, x, y):
    pred = forward(params, cfg, x)
    l2 = sum(jnp.sum(p ** 2) for p in jax.tree.leaves(params))
    return jnp.mean((pred - y) ** 2) + cfg.weight_decay * l2


@functools.partial(jax.jit, static_argnames=("cfg",))  # finding
def train_step(params, x, y, cfg):
    loss, grads = jax.value_and_grad(loss_fn)(params, cfg, x, y)
    params = jax.tree.map(lambda p, g: p - cfg.lr * g, params, grads)
    return params, loss


def main():
    cfg = TrainConfig(width=64)
    rng = np.random.default_rng(0)
    x = rng.normal(size=(256, 5)).astype(np.float32)
    y = np.sin(x[:, 0]) + 0.5 * x[:, 1]
    params = init(jax.random.key(0), cfg, 5)
    for i in range(200):
        params, loss = train_step(params, x, y, cfg=cfg)  # finding-also
    print("loss", float(loss))


if __name__ == "__main__":
    main()
