# source: jax-ml/jax#10596
# blind: eighteenth

import functools

import jax
import jax.numpy as jnp
import numpy as np
import optax


def load(n=20_000, dim=196):
    rng = np.random.default_rng(0)
    images = rng.random((n, dim), dtype=np.float32)
    return images, (images.sum(axis=1) > dim / 2).astype(np.int32)


def logits_fn(params, x):
    h = jax.nn.relu(x @ params["w1"])
    return h @ params["w2"]


def make_train_step(images, labels, tx, batch_size):
    images = jnp.asarray(images)
    labels = jnp.asarray(labels)

    @functools.partial(jax.jit, donate_argnums=(0, 1))  # finding-also
    def train_step(params, opt_state, key):
        idx = jax.random.randint(key, (batch_size,), 0, images.shape[0])
        x, y = images[idx], labels[idx]  # finding

        def loss_fn(p):
            return optax.softmax_cross_entropy_with_integer_labels(logits_fn(p, x), y).mean()

        loss, grads = jax.value_and_grad(loss_fn)(params)
        updates, opt_state = tx.update(grads, opt_state)
        return optax.apply_updates(params, updates), opt_state, loss

    return train_step


def main(steps=3):
    tx = optax.sgd(0.1)
    k1, k2, k_loop = jax.random.split(jax.random.key(0), 3)
    params = {"w1": 0.05 * jax.random.normal(k1, (196, 32)), "w2": 0.1 * jax.random.normal(k2, (32, 2))}
    opt_state = tx.init(params)
    step = make_train_step(*load(), tx, 64)  # finding-also
    for k in jax.random.split(k_loop, steps):
        params, opt_state, loss = step(params, opt_state, k)
    print(loss)


if __name__ == "__main__":
    main()
