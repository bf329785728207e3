# blind: nineteenth

import dataclasses
import functools

import jax
import jax.numpy as jnp


@dataclasses.dataclass(frozen=True)
class FieldConfig:
    width: int = 32
    depth: int = 2
    omega: float = 8.0


def init(key, cfg):
    sizes = [2] + [cfg.width] * cfg.depth + [1]
    keys = jax.random.split(key, len(sizes) - 1)
    return [
        {"w": jax.random.normal(k, (m, n)) * m ** -0.5, "b": jnp.zeros(n)}
        for k, m, n in zip(keys, sizes[:-1], sizes[1:])
    ]


def field(params, x, cfg):
    x = jnp.sin(cfg.omega * (x @ params[0]["w"] + params[0]["b"]))
    for layer in params[1:-1]:
        x = jnp.sin(x @ layer["w"] + layer["b"])
    return (x @ params[-1]["w"] + params[-1]["b"])[..., 0]


@functools.partial(jax.jit, static_argnames=("cfg",))  # finding-other
def train_step(params, coords, target, cfg):
    def loss_fn(p):
        return jnp.mean((field(p, coords, cfg) - target) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(params)
    return jax.tree.map(lambda p, g: p - 0.02 * g, params, grads), loss


def main():
    cfg = FieldConfig()
    k_p, k_x = jax.random.split(jax.random.key(0))
    params = init(k_p, cfg)
    coords = jax.random.uniform(k_x, (256, 2), minval=-1.0, maxval=1.0)
    target = jnp.sin(5.0 * coords[:, 0])
    for _ in range(200):
        params, loss = train_step(params, coords, target, cfg=FieldConfig())
    print("loss", float(loss), "traces", train_step._cache_size())


if __name__ == "__main__":
    main()
