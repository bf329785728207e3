# source: jax-ml/jax#8356
# blind: eighteenth

import jax
import jax.numpy as jnp


@jax.custom_vjp
def clip_passthrough(x, lo, hi):
    """Clip in the forward pass; identity gradient where the clip pulls back inside."""
    return jnp.clip(x, lo, hi)


def _clip_fwd(x, lo, hi):
    return clip_passthrough(x, lo, hi), (x, lo, hi)


def _clip_bwd(res, g):
    x, lo, hi = res
    toward = ((x < lo) & (g < 0)) | ((x > hi) & (g > 0))
    inside = (x >= lo) & (x <= hi)
    return (jnp.where(inside | toward, g, 0.0),)  # finding


clip_passthrough.defvjp(_clip_fwd, _clip_bwd)  # finding-also


def quantize(x, scale):
    return x + jax.lax.stop_gradient(jnp.round(x / scale) * scale - x)


def fake_quant_layer(w, x, scale):
    wq = quantize(clip_passthrough(w, -8.0 * scale, 7.0 * scale), scale)
    return x @ wq


def loss_fn(w, x, y, scale):
    return jnp.mean((fake_quant_layer(w, x, scale) - y) ** 2)


if __name__ == "__main__":
    k1, k2 = jax.random.split(jax.random.key(0))
    weights = jax.random.normal(k1, (6, 3))
    data = jax.random.normal(k2, (12, 6))
    print(jax.grad(loss_fn)(weights, data, data[:, :3], 0.1))
