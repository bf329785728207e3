# blind: twelfth

import functools

import jax
import jax.numpy as jnp
import optax


def encoder(params, x):
    h = jax.nn.relu(x @ params["w1"])
    z = h @ params["w2"]
    return z * jax.lax.rsqrt(jnp.sum(z**2, -1, keepdims=True) + 1e-12)


def byol_loss(params, target_params, view1, view2):
    online = encoder(params, view1)
    target = jax.lax.stop_gradient(encoder(target_params, view2))
    return jnp.mean(2 - 2 * jnp.sum(online * target, axis=-1))


tx = optax.adam(3e-4)


@functools.partial(jax.jit, donate_argnums=(0, 1, 2))
def update(params, target_params, opt_state, view1, view2):
    loss, grads = jax.value_and_grad(byol_loss)(params, target_params, view1, view2)
    updates, opt_state = tx.update(grads, opt_state)
    params = optax.apply_updates(params, updates)
    return params, optax.incremental_update(params, target_params, 0.01), opt_state, loss


def quantize(z, codebook):
    index = jnp.argmin(jnp.sum((z[:, None] - codebook[None]) ** 2, -1), -1)
    q = codebook[index]
    return z + jax.lax.stop_gradient(q - z)


def commitment(params, codebook, x):
    z = encoder(params, x)
    return jnp.mean((quantize(z, codebook) - 1.0) ** 2) + jnp.mean((z - 1.0) ** 2)


commitment_grad = jax.jit(jax.grad(commitment))
