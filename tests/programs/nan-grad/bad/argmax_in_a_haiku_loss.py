# source: google-deepmind/dm-haiku#442
# blind: seventeenth

"""Classify by the predicted class index."""
import haiku as hk
import jax
import jax.numpy as jnp
import optax


def net_fn(x):
    return hk.nets.MLP([32, 16, 3])(x)


net = hk.without_apply_rng(hk.transform(net_fn))
optimizer = optax.adam(1e-2)


def loss_fn(params, x, y):
    logits = net.apply(params, x)
    predicted = jnp.argmax(logits, axis=-1)  # finding
    return jnp.mean(jnp.square(predicted.astype(jnp.float32) - y))  # finding-also


@jax.jit
def update(params, opt_state, x, y):
    loss, grads = jax.value_and_grad(loss_fn)(params, x, y)  # finding-also
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


def main():
    kx, kp = jax.random.split(jax.random.key(0))
    x = jax.random.normal(kx, (90, 5))
    y = jnp.clip(jnp.round(x[:, 0] + 1.0), 0, 2)
    params = net.init(kp, x)
    opt_state = optimizer.init(params)
    for step in range(30):
        params, opt_state, loss = update(params, opt_state, x, y)
    print("loss", loss)


if __name__ == "__main__":
    main()
