# source: jax-ml/jax#2009

import jax
import jax.numpy as jnp

BETAS = jnp.linspace(1e-4, 0.02, 100)
ALPHA_BAR = jnp.cumprod(1.0 - BETAS)


def denoiser(params, x, t):
    h = jnp.concatenate([x, t[:, None] / 100.0], axis=-1)
    return jnp.tanh(h @ params["w1"]) @ params["w2"]


def ddpm_loss(params, rng, x0):
    t = jax.random.randint(rng, (x0.shape[0],), 0, 100)
    eps = jax.random.normal(rng, x0.shape)  # finding
    scale = ALPHA_BAR[t][:, None]
    xt = jnp.sqrt(scale) * x0 + jnp.sqrt(1 - scale) * eps
    return jnp.mean((denoiser(params, xt, t) - eps) ** 2)


@jax.jit
def step(params, rng, x0):
    rng, sub = jax.random.split(rng)
    grads = jax.grad(ddpm_loss)(params, sub, x0)
    return jax.tree.map(lambda p, g: p - 1e-3 * g, params, grads), rng


if __name__ == "__main__":
    p = {"w1": jnp.ones((3, 8)) * 0.1, "w2": jnp.ones((8, 2)) * 0.1}
    print(step(p, jax.random.key(0), jnp.ones((4, 2)))[0]["w2"][0])
