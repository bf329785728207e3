# source: google-deepmind/optax#1780
# blind: eighteenth

import functools

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax


class Classifier(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.gelu(nn.Dense(32)(x))
        x = nn.LayerNorm()(x)
        return nn.Dense(5)(x)


def decay_mask(params):
    return jax.tree.map(lambda p: p.ndim > 1, params)


def make_optimizer(total_steps):
    schedule = optax.warmup_cosine_decay_schedule(0.0, 1e-3, 2, total_steps)
    return optax.chain(
        optax.clip_by_global_norm(1.0),
        optax.scale_by_adam(),
        optax.add_decayed_weights(1e-2, mask=decay_mask),
        optax.scale_by_learning_rate(schedule),
    )


def make_step(model, tx):
    @functools.partial(jax.jit, donate_argnums=(0, 1))
    def step(params, opt_state, x, y):
        def loss_fn(p):
            logits = model.apply({"params": p}, x)
            return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()

        loss, grads = jax.value_and_grad(loss_fn)(params)
        updates, opt_state = tx.update(grads, opt_state)  # finding
        return optax.apply_updates(params, updates), opt_state, loss

    return step


def main():
    model, tx = Classifier(), make_optimizer(10)
    x = jnp.ones((8, 6))
    params = model.init(jax.random.key(0), x)["params"]
    opt_state = tx.init(params)
    step = make_step(model, tx)
    params, opt_state, loss = step(params, opt_state, x, jnp.arange(8) % 5)
    print(loss)


if __name__ == "__main__":
    main()
