# source: jax-ml/jax#3120
# blind: seventh

"""Data parallel training of a small regression, one replica per device."""

import jax
import jax.numpy as jnp
import optax

optimizer = optax.adam(1e-2)


def loss_fn(params, x, y):
    return jnp.mean((jnp.tanh(x @ params["w1"]) @ params["w2"] - y) ** 2)


def step(params, opt_state, x, y):
    loss, grads = jax.value_and_grad(loss_fn)(params, x, y)  # finding-also
    updates, opt_state = optimizer.update(grads, opt_state, params)  # finding
    params = optax.apply_updates(params, updates)  # finding-also
    return params, opt_state, jax.lax.pmean(loss, "i")


p_step = jax.pmap(step, axis_name="i", donate_argnums=(0, 1))


def main():
    n = jax.local_device_count()
    params = {"w1": jnp.ones((4, 8)) * 0.1, "w2": jnp.ones((8, 1)) * 0.1}
    state = (params, optimizer.init(params))
    params, opt_state = jax.tree.map(lambda a: jnp.stack([a] * n), state)
    for key in jax.random.split(jax.random.key(0), 10):
        x = jax.random.normal(key, (n, 16, 4))
        params, opt_state, loss = p_step(params, opt_state, x, x.sum(-1, keepdims=True))
    print(loss)


if __name__ == "__main__":
    main()
