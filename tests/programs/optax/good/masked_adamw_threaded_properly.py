# source: google-deepmind/optax#1780
# blind: eighteenth

import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import optax


def decay_mask(params):
    return jax.tree.map(lambda p: p.ndim > 1, params)


def make_tx(lr=1e-3, steps=100):
    schedule = optax.warmup_cosine_decay_schedule(0.0, lr, 5, steps)
    return optax.chain(
        optax.clip_by_global_norm(1.0),
        optax.adamw(schedule, weight_decay=1e-2, mask=decay_mask),
    )


def loss_fn(params, static, x, y):
    model = eqx.combine(params, static)
    return jnp.mean((jax.vmap(model)(x) - y) ** 2)


def make_step(static, tx):
    @functools.partial(jax.jit, donate_argnums=(0, 1))
    def step(params, opt_state, x, y):
        loss, grads = jax.value_and_grad(loss_fn)(params, static, x, y)
        updates, opt_state = tx.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, loss

    return step


def main():
    model = eqx.nn.MLP(3, "scalar", 16, depth=2, key=jax.random.key(0))
    params, static = eqx.partition(model, eqx.is_inexact_array)
    tx = make_tx()
    opt_state = tx.init(params)
    step = make_step(static, tx)
    x = jax.random.normal(jax.random.key(1), (32, 3))
    for _ in range(10):
        params, opt_state, loss = step(params, opt_state, x, x.sum(axis=1))
    print(loss, eqx.combine(params, static)(x[0]))


if __name__ == "__main__":
    main()
