# source: jax-ml/jax#16430

import jax
import jax.numpy as jnp
import optax

optimizer = optax.adam(1e-3)


def tree_is_finite(tree):
    return all(jnp.isfinite(leaf).all() for leaf in jax.tree.leaves(tree))  # finding


def loss_fn(params, batch):
    hidden = jnp.tanh(batch["x"] @ params["w1"])
    return jnp.mean((hidden @ params["w2"] - batch["y"]) ** 2)


@jax.jit
def train_step(params, opt_state, batch):
    loss, grads = jax.value_and_grad(loss_fn)(params, batch)
    if tree_is_finite(grads):  # finding-also
        updates, opt_state = optimizer.update(grads, opt_state)
        params = optax.apply_updates(params, updates)
    return params, opt_state, loss


def main():
    k1, k2 = jax.random.split(jax.random.key(0))
    params = {"w1": jax.random.normal(k1, (4, 8)), "w2": jax.random.normal(k2, (8, 1))}
    opt_state = optimizer.init(params)
    batch = {"x": jnp.ones((16, 4)), "y": jnp.zeros((16, 1))}
    for _ in range(3):
        params, opt_state, loss = train_step(params, opt_state, batch)
    print(loss)


if __name__ == "__main__":
    main()
