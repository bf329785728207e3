# source: google/flax#4085

import haiku as hk
import jax
import jax.numpy as jnp


class Classifier(hk.Module):
    def __init__(self, width, classes, name=None):
        super().__init__(name=name)
        self.width = width
        self.classes = classes

    def __call__(self, x, is_training):
        h = jax.nn.relu(hk.Linear(self.width)(x))
        if is_training:  # finding
            h = hk.dropout(hk.next_rng_key(), 0.3, h)
        return hk.Linear(self.classes)(h)


def forward(x, is_training):
    return Classifier(32, 10)(x, is_training)


net = hk.transform(forward)
apply = jax.jit(net.apply)


def main():
    key = jax.random.PRNGKey(0)
    x = jnp.ones((4, 16))
    params = net.init(key, x, True)
    train_logits = apply(params, key, x, True)
    test_logits = apply(params, key, x, False)
    print(train_logits.shape, test_logits.shape)


main()
