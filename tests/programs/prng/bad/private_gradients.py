# source: jax-ml/jax#3646
# blind: twenty-first

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np


@dataclasses.dataclass(frozen=True)
class DPConfig:
    clip: float = 1.0
    multiplier: float = 1.1
    batch: int = 32
    lr: float = 0.2


def init(key, dim=8):
    k1, k2, k3 = jax.random.split(key, 3)
    return {
        "first": 0.3 * jax.random.normal(k1, (dim, dim)),
        "second": 0.3 * jax.random.normal(k2, (dim, dim)),
        "head": 0.3 * jax.random.normal(k3, (dim,)),
    }


def example_loss(params, x, y):
    h = jnp.tanh(x @ params["first"])
    h = jnp.tanh(h @ params["second"])
    return jax.nn.softplus(-y * (h @ params["head"]))


def clipped_grad(params, x, y, clip):
    grads = jax.grad(example_loss)(params, x, y)
    norm = jnp.sqrt(sum(jnp.sum(g ** 2) for g in jax.tree.leaves(grads)))
    return jax.tree.map(lambda g: g * jnp.minimum(1.0, clip / (norm + 1e-12)), grads)


def private_gradient(key, params, x, y, cfg):
    per_example = jax.vmap(clipped_grad, in_axes=(None, 0, 0, None))(params, x, y, cfg.clip)
    mean_grads = jax.tree.map(lambda g: g.mean(axis=0), per_example)
    sigma = cfg.clip * cfg.multiplier / cfg.batch

    def add_noise(g):
        return g + sigma * jax.random.normal(key, g.shape)  # finding

    noised = jax.tree.map(add_noise, mean_grads)  # finding-also
    noise = jax.tree.map(jnp.subtract, noised, mean_grads)
    return noised, noise


def main():
    cfg = DPConfig()
    rng = np.random.default_rng(0)
    params = init(jax.random.key(0))
    step = jax.jit(lambda k, p, x, y: private_gradient(k, p, x, y, cfg))
    for i in range(50):
        x = jnp.asarray(rng.normal(size=(cfg.batch, 8)), jnp.float32)
        y = jnp.sign(x[:, 0])
        grads, noise = step(jax.random.fold_in(jax.random.key(1), i), params, x, y)
        params = jax.tree.map(lambda p, g: p - cfg.lr * g, params, grads)
    corr = np.corrcoef(np.ravel(noise["first"]), np.ravel(noise["second"]))[0, 1]
    print("correlation of layer noises", round(float(corr), 3))


if __name__ == "__main__":
    main()
