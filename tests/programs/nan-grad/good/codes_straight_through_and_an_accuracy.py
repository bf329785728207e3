# blind: seventeenth

"""A discrete code with a straight-through estimator and an accuracy metric."""
import haiku as hk
import jax
import jax.numpy as jnp
import optax


def net_fn(x):
    logits = hk.Linear(8, name="encoder")(x)
    probs = jax.nn.softmax(logits)
    hard = jax.nn.one_hot(jnp.argmax(logits, axis=-1), 8)
    code = probs + jax.lax.stop_gradient(hard - probs)
    return hk.Linear(3, name="head")(code)


net = hk.without_apply_rng(hk.transform(net_fn))
optimizer = optax.adam(1e-2)


def loss_fn(params, x, y):
    logits = net.apply(params, x)
    loss = optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()
    accuracy = jnp.mean(jnp.argmax(logits, axis=-1) == y)
    return loss, accuracy


@jax.jit
def update(params, opt_state, x, y):
    (loss, accuracy), grads = jax.value_and_grad(loss_fn, has_aux=True)(params, x, y)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, (loss, accuracy)


def main():
    kx, kp = jax.random.split(jax.random.key(0))
    x = jax.random.normal(kx, (90, 5))
    y = jnp.clip(jnp.round(x[:, 0] + 1.0), 0, 2).astype(jnp.int32)
    params = net.init(kp, x)
    opt_state = optimizer.init(params)
    for step in range(30):
        params, opt_state, metrics = update(params, opt_state, x, y)
    print("loss, accuracy", metrics)


if __name__ == "__main__":
    main()
