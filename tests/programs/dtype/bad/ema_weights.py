# source: d8ahazard/sd_dreambooth_extension#1415
# blind: twenty-first

from typing import Any

import flax.struct
import jax
import jax.numpy as jnp
import optax


@flax.struct.dataclass
class EMAState:
    average: Any
    decay: float = flax.struct.field(pytree_node=False, default=0.999)

    def update(self, params):
        new = jax.tree.map(
            lambda a, p: self.decay * a + (1.0 - self.decay) * p,  # finding
            self.average, params)
        return self.replace(average=new)


def start_ema(params, decay=0.999):
    return EMAState(average=params, decay=decay)  # finding-also


def init_denoiser(key, dim=32, dtype=jnp.bfloat16):
    k1, k2 = jax.random.split(key)
    return {
        "inp": (jax.random.normal(k1, (dim + 1, dim)) * 0.2).astype(dtype),
        "out": (jax.random.normal(k2, (dim, dim)) * 0.2).astype(dtype),
    }


def denoise(params, x, t):
    h = jnp.concatenate([x, t[:, None]], axis=1).astype(jnp.bfloat16)
    return jax.nn.silu(h @ params["inp"]) @ params["out"]


def loss_fn(params, x, key):
    kt, kn = jax.random.split(key)
    t = jax.random.uniform(kt, (x.shape[0],))
    noise = jax.random.normal(kn, x.shape)
    noisy = jnp.sqrt(1 - t)[:, None] * x + jnp.sqrt(t)[:, None] * noise
    pred = denoise(params, noisy, t).astype(jnp.float32)
    return jnp.mean((pred - noise) ** 2)


def main():
    key = jax.random.key(0)
    params = init_denoiser(key)
    start = params
    tx = optax.sgd(0.5)
    opt_state = tx.init(params)
    ema = start_ema(params)

    @jax.jit
    def step(params, opt_state, ema, key):
        x = jax.random.normal(jax.random.fold_in(key, 1), (64, 32)) * 0.5 + 1.0
        loss, grads = jax.value_and_grad(loss_fn)(params, x, key)
        updates, opt_state = tx.update(grads, opt_state)
        params = optax.apply_updates(params, updates)
        return params, opt_state, ema.update(params), loss

    for i in range(1500):
        params, opt_state, ema, loss = step(params, opt_state, ema, jax.random.fold_in(key, i))
    dist = lambda a, b: float(optax.global_norm(jax.tree.map(
        lambda x, y: x.astype(jnp.float32) - y.astype(jnp.float32), a, b)))
    print("loss", float(loss), "params moved", dist(params, start))
    print("average moved", dist(ema.average, start))


if __name__ == "__main__":
    main()
