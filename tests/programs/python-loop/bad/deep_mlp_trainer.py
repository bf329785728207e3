# source: google-deepmind/optax#319
# blind: twentieth

"""Deep residual MLP trained with clipped AdamW."""
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import optax


@dataclass(frozen=True)
class Config:
    features: int = 16
    width: int = 64
    blocks: int = 10
    lr: float = 1e-3
    weight_decay: float = 1e-4
    clip: float = 1.0
    steps: int = 100
    batch: int = 64


def init_params(key, cfg):
    k_in, k_out, *k_blocks = jax.random.split(key, cfg.blocks + 2)
    scale = cfg.width**-0.5
    blocks = [
        {"w": scale * jax.random.normal(k, (cfg.width, cfg.width)), "b": jnp.zeros(cfg.width)}
        for k in k_blocks
    ]
    return {
        "inp": jax.random.normal(k_in, (cfg.features, cfg.width)) * cfg.features**-0.5,
        "blocks": blocks,
        "out": scale * jax.random.normal(k_out, (cfg.width,)),
    }


def predict(params, x):
    h = x @ params["inp"]
    for block in params["blocks"]:
        h = h + 0.3 * jnp.tanh(h @ block["w"] + block["b"])
    return h @ params["out"]


@jax.jit  # finding-also
def loss_and_grad(params, x, y):
    return jax.value_and_grad(lambda p: jnp.mean((predict(p, x) - y) ** 2))(params)


class Trainer:
    def __init__(self, cfg, params):
        self.tx = optax.chain(
            optax.clip_by_global_norm(cfg.clip),
            optax.adamw(cfg.lr, weight_decay=cfg.weight_decay),
        )
        self.params = params
        self.opt_state = self.tx.init(params)

    def train_step(self, x, y):  # finding-also
        loss, grads = loss_and_grad(self.params, x, y)  # finding-also
        updates, self.opt_state = self.tx.update(grads, self.opt_state, self.params)  # finding
        self.params = optax.apply_updates(self.params, updates)  # finding-also
        return loss


def main():
    cfg = Config()
    rng = np.random.default_rng(0)
    x = rng.standard_normal((2048, cfg.features)).astype(np.float32)
    y = np.sin(x).sum(axis=1)
    trainer = Trainer(cfg, init_params(jax.random.key(0), cfg))
    losses = []
    for _ in range(cfg.steps):
        rows = rng.choice(len(x), cfg.batch, replace=False)
        losses.append(trainer.train_step(x[rows], y[rows]))  # finding-also
    print("last loss", float(jnp.stack(losses)[-10:].mean()))


if __name__ == "__main__":
    main()
