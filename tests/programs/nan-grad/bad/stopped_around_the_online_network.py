# blind: twelfth

"""BYOL-style loss."""
import jax
import jax.numpy as jnp
import optax


def encoder(params, x):
    h = jax.nn.relu(x @ params["w1"])
    z = h @ params["w2"]
    return z / jnp.linalg.norm(z, axis=-1, keepdims=True)


def byol_loss(params, target_params, view1, view2):
    online = jax.lax.stop_gradient(encoder(params, view1))  # finding
    target = encoder(target_params, view2)
    return jnp.mean(2 - 2 * jnp.sum(online * target, axis=-1))


@jax.jit
def update(params, target_params, opt_state, view1, view2):
    loss, grads = jax.value_and_grad(byol_loss)(params, target_params, view1, view2)
    updates, opt_state = optax.adam(3e-4).update(grads, opt_state)
    params = optax.apply_updates(params, updates)
    target_params = optax.incremental_update(params, target_params, 0.01)
    return params, target_params, opt_state, loss


if __name__ == "__main__":
    p = {"w1": jnp.ones((8, 8)), "w2": jnp.eye(8)}
    x = jax.random.normal(jax.random.key(0), (4, 8))
    _, _, s, _ = update(p, p, optax.adam(3e-4).init(p), x, x)
    print(s)
