# blind: twenty-first
# missed: how large a number of the loop becomes in int32

import dataclasses

import jax
import jax.numpy as jnp
import optax

TOKENS_PER_STEP = 2048 * 2048
TOTAL_TOKENS = 4.0e9


@dataclasses.dataclass(frozen=True)
class ScheduleConfig:
    peak: float = 3e-4
    floor: float = 3e-5
    warmup_fraction: float = 0.01


def token_cosine(cfg):
    def schedule(step):
        seen = step * TOKENS_PER_STEP  # finding
        progress = seen / TOTAL_TOKENS
        warm = progress / cfg.warmup_fraction
        decay = (progress - cfg.warmup_fraction) / (1.0 - cfg.warmup_fraction)
        cosine = 0.5 * (1.0 + jnp.cos(jnp.pi * jnp.minimum(decay, 1.0)))
        lr = cfg.floor + (cfg.peak - cfg.floor) * cosine
        return jnp.where(progress < cfg.warmup_fraction, cfg.peak * warm, lr)

    return schedule


def loss_fn(params, x):
    return jnp.mean((x @ params["w"] + params["b"]) ** 2)


def main():
    cfg = ScheduleConfig()
    schedule = token_cosine(cfg)
    tx = optax.adamw(schedule)
    params = {"w": jnp.ones((8, 4)), "b": jnp.zeros((4,))}
    opt_state = tx.init(params)
    x = jax.random.normal(jax.random.key(0), (16, 8))

    @jax.jit
    def step(params, opt_state):
        grads = jax.grad(loss_fn)(params, x)
        updates, opt_state = tx.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state

    for _ in range(700):
        params, opt_state = step(params, opt_state)
    count = opt_state[-1].count
    for s in (5, 100, 400, 511, 600):
        print("step", s, "lr", float(schedule(jnp.asarray(s))))
    print("final step", int(count), "lr", float(schedule(count)))


if __name__ == "__main__":
    main()
