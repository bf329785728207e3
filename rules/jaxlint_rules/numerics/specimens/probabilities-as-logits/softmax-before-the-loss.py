# probabilities given to losses and samplers, also of a model that ends in a softmax

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax


class Classifier(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.softmax(nn.Dense(10)(x))


model = Classifier()


def loss(params, x, y):
    probs = model.apply({"params": params}, x)
    return optax.softmax_cross_entropy_with_integer_labels(probs, y).mean()  # finding


def binary(w, x, y):
    p = jax.nn.sigmoid(x @ w)
    return optax.losses.sigmoid_binary_cross_entropy(p[:, 0], y).mean()  # finding


def act(key, logits):
    probs = jax.nn.softmax(logits)
    return jax.random.categorical(key, probs, axis=-1)  # finding


params = model.init(jax.random.key(0), jnp.zeros((1, 4)))["params"]
jax.grad(loss)(params, jnp.zeros((2, 4)), jnp.zeros(2, int))
jax.grad(binary)(jnp.zeros((4, 1)), jnp.zeros((2, 4)), jnp.zeros(2))
act(jax.random.key(1), jnp.zeros(3))
