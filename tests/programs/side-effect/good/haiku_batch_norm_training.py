# source: google-deepmind/optax#560
# blind: second

import haiku as hk
import jax
import jax.numpy as jnp
import optax


class ConvBlock(hk.Module):
    def __init__(self, channels, stride, name=None):
        super().__init__(name=name)
        self.conv = hk.Conv2D(channels, 3, stride=stride, with_bias=False)
        self.norm = hk.BatchNorm(True, True, 0.9)
        self.project = hk.Conv2D(channels, 1, stride=stride) if stride > 1 else None

    def __call__(self, x, is_training):
        h = jax.nn.relu(self.norm(self.conv(x), is_training))
        shortcut = x if self.project is None else self.project(x)
        if shortcut.shape == h.shape:
            h = h + shortcut
        count = hk.get_state("count", (), jnp.int32, init=jnp.zeros)
        if is_training:
            hk.set_state("count", count + 1)
        return h


def network(images, is_training):
    x = images
    for channels, stride in ((8, 1), (16, 2)):
        x = ConvBlock(channels, stride)(x, is_training)
    x = x.mean(axis=(1, 2))
    if is_training:
        x = hk.dropout(hk.next_rng_key(), 0.1, x)
    return hk.Linear(10)(x)


model = hk.transform_with_state(network)
tx = optax.chain(optax.add_decayed_weights(1e-4), optax.sgd(0.1, momentum=0.9))


def loss_fn(params, state, key, images, labels):
    logits, state = model.apply(params, state, key, images, is_training=True)
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean(), state


@jax.jit  # finding-other
def update(params, state, opt_state, key, images, labels):
    (loss, state), grads = jax.value_and_grad(loss_fn, has_aux=True)(params, state, key, images, labels)
    updates, opt_state = tx.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), state, opt_state, loss


def main():
    keys = hk.PRNGSequence(0)
    images = jax.random.normal(next(keys), (4, 8, 8, 3))
    labels = jnp.arange(4)
    params, state = model.init(next(keys), images, is_training=True)
    opt_state = tx.init(params)
    for _ in range(3):
        params, state, opt_state, loss = update(params, state, opt_state, next(keys), images, labels)
    print(loss)


if __name__ == "__main__":
    main()
