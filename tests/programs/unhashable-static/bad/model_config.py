# source: jax-ml/jax#2813
# blind: twentieth

"""A configurable MLP regressor in plain JAX."""
from dataclasses import dataclass, field
from functools import partial

import jax
import jax.numpy as jnp
import optax

ACTIVATIONS = {"relu": jax.nn.relu, "tanh": jnp.tanh, "gelu": jax.nn.gelu}


@dataclass(frozen=True)  # finding-also
class ModelConfig:  # finding-also
    features: int = 4
    hidden: list[int] = field(default_factory=lambda: [64, 64])  # finding
    activation: str = "gelu"
    residual: bool = True


@dataclass(frozen=True)
class TrainConfig:
    lr: float = 1e-2
    steps: int = 100


def init_params(key, cfg):
    sizes = [cfg.features, *cfg.hidden, 1]
    keys = jax.random.split(key, len(sizes) - 1)
    return [
        {"w": jax.random.normal(k, (i, o)) * (2.0 / i) ** 0.5, "b": jnp.zeros(o)}
        for k, i, o in zip(keys, sizes[:-1], sizes[1:])
    ]


@partial(jax.jit, static_argnames="cfg")  # finding-also
def predict(params, x, cfg):  # finding-also
    act = ACTIVATIONS[cfg.activation]
    for layer in params[:-1]:
        h = act(x @ layer["w"] + layer["b"])
        x = x + h if cfg.residual and h.shape == x.shape else h
    return (x @ params[-1]["w"] + params[-1]["b"])[:, 0]


def loss_fn(params, x, y, cfg):
    return jnp.mean((predict(params, x, cfg) - y) ** 2)  # finding-also


def train(params, x, y, model_cfg, train_cfg):
    tx = optax.adam(train_cfg.lr)
    opt_state = tx.init(params)

    @partial(jax.jit, donate_argnums=(0, 1))
    def step(params, opt_state, x, y):
        loss, grads = jax.value_and_grad(loss_fn)(params, x, y, model_cfg)
        updates, opt_state = tx.update(grads, opt_state)
        return optax.apply_updates(params, updates), opt_state, loss

    for _ in range(train_cfg.steps):
        params, opt_state, loss = step(params, opt_state, x, y)
    return params, loss


def main():
    model_cfg = ModelConfig()
    k_params, k_x = jax.random.split(jax.random.key(0))
    params = init_params(k_params, model_cfg)
    x = jax.random.normal(k_x, (256, model_cfg.features))
    params, loss = train(params, x, jnp.sin(x).sum(axis=1), model_cfg, TrainConfig())
    print("loss", float(loss))


if __name__ == "__main__":
    main()
