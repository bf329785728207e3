# rows to pick, numbers to join, channels of images

import jax
import jax.numpy as jnp
import flax.linen as nn
import optax
from jax import lax

def picked(q, actions):
    a = jnp.take_along_axis(q, actions, axis=1)  # finding
    b = jnp.take_along_axis(q, actions[:, None], axis=1)
    return a, b

picked(jnp.ones((32, 4)), jnp.zeros(32, jnp.int32))

def returns(episodes):
    found, rows = [], []
    for n in range(episodes):
        found.append(jnp.sum(jnp.ones(50) * n))
        rows.append(jnp.ones(3) * n)
    a = jnp.concatenate(found)  # finding
    return a, jnp.stack(found), jnp.concatenate(rows)

returns(8)

def features(images, kernel):
    a = lax.conv_general_dilated(images, kernel, (1, 1), "SAME")  # finding
    layout = ("NHWC", "HWIO", "NHWC")
    b = lax.conv_general_dilated(images, kernel, (1, 1), "SAME", dimension_numbers=layout)
    c = lax.conv_general_dilated(images, jnp.ones((3, 3, 1, 6)), (1, 1), "SAME", None, None, layout, 3)
    return a, b, c

features(jnp.ones((8, 32, 32, 3)), jnp.ones((3, 3, 3, 16)))

class Classifier(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(10)(nn.relu(nn.Dense(32)(x)))

model = Classifier()

@jax.jit
def loss(params, images, labels):
    logits = model.apply(params, images)
    a = optax.softmax_cross_entropy(logits, labels)  # finding
    b = optax.softmax_cross_entropy(logits, jax.nn.one_hot(labels, 10))
    return a.mean() + b.mean() + optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()

images = jnp.ones((64, 784))
loss(model.init(jax.random.key(0), images), images, jnp.zeros(64, jnp.int32))
