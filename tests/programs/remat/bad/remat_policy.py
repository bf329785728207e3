# blind: twentieth

"""Deep residual network over long sequences, with rematerialised blocks."""
from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import optax
from jax import lax


@dataclass(frozen=True)
class Config:
    dim: int = 64
    expand: int = 4
    layers: int = 12
    length: int = 512
    batch: int = 4
    remat: bool = True
    remat_policy: str = "everything_saveable"  # finding
    lr: float = 1e-3


def init_params(cfg, key):
    k1, k2 = jax.random.split(key)
    wide = cfg.expand * cfg.dim
    return {
        "up": jax.random.normal(k1, (cfg.layers, cfg.dim, wide)) * cfg.dim**-0.5,
        "down": jax.random.normal(k2, (cfg.layers, wide, cfg.dim)) * 0.1 * wide**-0.5,
        "scale": jnp.ones((cfg.layers, cfg.dim)),
    }


def block(x, layer):
    h = x * lax.rsqrt(jnp.mean(x**2, axis=-1, keepdims=True) + 1e-6) * layer["scale"]
    h = jax.nn.gelu(h @ layer["up"])
    return x + jnp.tanh(h @ layer["down"])


def make_forward(cfg):
    body = block
    if cfg.remat:
        policy = getattr(jax.checkpoint_policies, cfg.remat_policy)  # finding-also
        body = jax.checkpoint(block, policy=policy)  # finding-also

    def forward(params, x):
        out, _ = lax.scan(lambda h, layer: (body(h, layer), None), x, params)
        return out

    return forward


def make_step(cfg, tx):
    forward = make_forward(cfg)

    def loss_fn(params, x, y):
        return jnp.mean((forward(params, x) - y) ** 2)

    @partial(jax.jit, donate_argnums=(0, 1))
    def step(params, opt_state, x, y):
        loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
        updates, opt_state = tx.update(grads, opt_state)
        return optax.apply_updates(params, updates), opt_state, loss

    return step


def main(steps=5):
    cfg = Config()
    key, k_init = jax.random.split(jax.random.key(0))
    params = init_params(cfg, k_init)
    tx = optax.adam(cfg.lr)
    opt_state = tx.init(params)
    step = make_step(cfg, tx)
    for _ in range(steps):
        key, sub = jax.random.split(key)
        x = jax.random.normal(sub, (cfg.batch, cfg.length, cfg.dim))
        params, opt_state, loss = step(params, opt_state, x, jnp.roll(x, 1, axis=1))
    print("loss", float(loss))


if __name__ == "__main__":
    main()
