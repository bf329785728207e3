"""Small images of letters, a convolutional network in haiku with momentum and averaged parameters.

The expert compiles the whole step with its average, the evaluation and the set-up, and fetches losses once an epoch.
"""

import functools

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax

SIZE, CLASSES = 12, 10


def net_fn(images, is_training):
    x = images[..., None] * 2 - 1
    for channels in (8, 16):
        x = hk.Conv2D(channels, 3)(x)
        x = hk.BatchNorm(True, True, 0.9)(x, is_training)
        x = jax.nn.relu(x)
        x = hk.max_pool(x, (1, 2, 2, 1), (1, 2, 2, 1), "SAME")
    x = hk.Flatten()(x)
    x = jax.nn.relu(hk.Linear(64)(x))
    if is_training:
        x = hk.dropout(hk.next_rng_key(), 0.2, x)
    return hk.Linear(CLASSES)(x)


net = hk.transform_with_state(net_fn)


def make_letters(count, seed):
    shapes = np.random.default_rng(11).random((CLASSES, SIZE, SIZE)) > 0.6
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, CLASSES, count)
    images = np.zeros((count, SIZE, SIZE))
    for i, label in enumerate(labels):
        shift = rng.integers(-1, 2, 2)
        images[i] = np.roll(shapes[label], shift, (0, 1)) + 0.4 * rng.normal(size=(SIZE, SIZE))
    return images.clip(0, 1), labels


def l2(params):
    return 0.5 * sum(jnp.sum(jnp.square(p)) for p in jax.tree.leaves(params))


def loss_fn(params, state, rng, images, labels):
    logits, state = net.apply(params, state, rng, images, True)
    one_hot = jax.nn.one_hot(labels, CLASSES)
    loss = -jnp.mean(jnp.sum(one_hot * jax.nn.log_softmax(logits), axis=-1))
    return loss + 1e-4 * l2(params), state


def ema(average, params, decay):
    return jax.tree.map(lambda a, p: decay * a + (1 - decay) * p, average, params)


@jax.jit
def predict(params, state, images):
    logits, _ = net.apply(params, state, None, images, False)
    return jnp.argmax(logits, -1)


def accuracy(params, state, images, labels, batch):
    right = []
    for i in range(0, len(images), batch):
        right.append(np.asarray(predict(params, state, images[i : i + batch])) == labels[i : i + batch])
    return np.concatenate(right).mean()


def main():
    images, labels = make_letters(2048, 0)
    test_images, test_labels = make_letters(512, 1)
    rng = hk.PRNGSequence(42)
    params, state = jax.jit(net.init, static_argnums=2)(next(rng), images[:1], True)
    optimizer = optax.sgd(optax.exponential_decay(0.05, 64, 0.8), momentum=0.9, nesterov=True)
    opt_state = optimizer.init(params)
    average = jax.tree.map(jnp.copy, params)

    @functools.partial(jax.jit, donate_argnums=(0, 1, 2, 3))
    def train_step(params, state, opt_state, average, key, images, labels, decay):
        (loss, state), grads = jax.value_and_grad(loss_fn, has_aux=True)(params, state, key, images, labels)
        updates, opt_state = optimizer.update(grads, opt_state, params)
        params = optax.apply_updates(params, updates)
        return params, state, opt_state, ema(average, params, decay), loss

    order = np.random.default_rng(5)
    step = 0
    for epoch in range(8):
        shuffled = order.permutation(len(images))
        losses = []
        for i in range(0, len(images), 32):
            rows = shuffled[i : i + 32]
            decay = min(0.99, (1 + step) / (10 + step))
            params, state, opt_state, average, loss = train_step(
                params, state, opt_state, average, next(rng), images[rows], labels[rows], decay
            )
            losses.append(loss)
            step += 1
        total = sum(float(x) for x in losses)
        score = accuracy(average, state, test_images, test_labels, 128)
        print(f"epoch {epoch}: loss {total / (len(images) // 32):.2f} test accuracy {score:.3f}")


if __name__ == "__main__":
    main()
