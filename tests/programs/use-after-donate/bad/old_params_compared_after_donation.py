# source: jax-ml/jax#9675
# blind: eighteenth

import functools

import jax
import jax.numpy as jnp
import optax


def init_params(key):
    k1, k2 = jax.random.split(key)
    return {"enc": jax.random.normal(k1, (6, 4)), "dec": jax.random.normal(k2, (4, 6))}


def loss_fn(params, x):
    recon = jnp.tanh(x @ params["enc"]) @ params["dec"]
    return jnp.mean((recon - x) ** 2)


tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(1e-2))


@functools.partial(jax.jit, donate_argnums=(0, 1))
def update(params, opt_state, x):
    loss, grads = jax.value_and_grad(loss_fn)(params, x)
    updates, opt_state = tx.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


def tree_distance(a, b):
    sq = jax.tree.map(lambda u, v: jnp.sum((u - v) ** 2), a, b)
    return jnp.sqrt(sum(jax.tree.leaves(sq)))


def main(steps=4):
    k_init, k_data = jax.random.split(jax.random.key(0))
    params = init_params(k_init)
    opt_state = tx.init(params)
    x = jax.random.normal(k_data, (32, 6))
    moved = []
    for _ in range(steps):
        new_params, opt_state, loss = update(params, opt_state, x)
        moved.append(tree_distance(new_params, params))  # finding
        params = new_params
    print(loss, jnp.stack(moved))


if __name__ == "__main__":
    main()
