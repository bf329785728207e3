# blind: twenty-first

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np


@dataclasses.dataclass(frozen=True)
class Config:
    widths: tuple[int, ...] = (32, 32)
    lr: float = 0.05
    activation: str = "tanh"


ACTIVATIONS = {"tanh": jnp.tanh, "silu": jax.nn.silu}


def init(key, cfg, d_in):
    sizes = (d_in, *cfg.widths, 1)
    keys = jax.random.split(key, len(sizes) - 1)
    return [(jax.random.normal(k, (m, n)) / m ** 0.5, jnp.zeros((n,)))
            for k, m, n in zip(keys, sizes[:-1], sizes[1:])]


def forward(params, cfg, x):
    act = ACTIVATIONS[cfg.activation]
    for w, b in params[:-1]:
        x = act(x @ w + b)
    w, b = params[-1]
    return (x @ w + b)[:, 0]


@functools.partial(jax.jit, static_argnames=("cfg",))  # finding-other
def train_step(params, x, y, cfg):
    def loss_fn(params):
        return jnp.mean((forward(params, cfg, x) - y) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(params)
    return jax.tree.map(lambda p, g: p - cfg.lr * g, params, grads), loss


def main():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 4)).astype(np.float32)
    y = np.sin(x[:, 0]) * x[:, 1]
    params = init(jax.random.key(0), Config(), 4)
    for _ in range(300):
        cfg = Config(widths=(32, 32))
        params, loss = train_step(params, x, y, cfg=cfg)
    print("loss", float(loss), "compilations", train_step._cache_size())
    assert train_step._cache_size() == 1


if __name__ == "__main__":
    main()
