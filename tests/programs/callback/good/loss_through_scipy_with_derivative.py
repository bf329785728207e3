# source: jax-ml/jax#11928
# blind: second

import jax
import jax.numpy as jnp
import numpy as np
import optax
from scipy import special


def host_erfinv(x):
    return special.erfinv(np.asarray(x)).astype(np.float32)


@jax.custom_jvp
def erfinv(x):
    out = jax.ShapeDtypeStruct(jnp.shape(x), jnp.float32)
    return jax.pure_callback(host_erfinv, out, x, vmap_method="legacy_vectorized")


@erfinv.defjvp
def erfinv_jvp(primals, tangents):
    (x,), (dx,) = primals, tangents
    y = erfinv(x)
    return y, 0.5 * jnp.sqrt(jnp.pi) * jnp.exp(y**2) * dx


def quantile_loss(log_scale, levels, observed):
    predicted = jnp.exp(log_scale) * jnp.sqrt(2.0) * erfinv(2 * levels - 1)
    return jnp.mean((predicted - observed) ** 2)


def fit(levels, observed, steps=3):
    tx = optax.sgd(1e-2)
    scale = jnp.zeros(())
    state = tx.init(scale)
    step = jax.jit(jax.grad(quantile_loss))
    for _ in range(steps):
        updates, state = tx.update(step(scale, levels, observed), state)
        scale = optax.apply_updates(scale, updates)
    return scale


if __name__ == "__main__":
    levels = jnp.linspace(0.1, 0.9, 8)
    print(fit(levels, 2 * levels))
