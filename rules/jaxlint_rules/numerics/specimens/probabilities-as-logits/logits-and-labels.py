# logits, probabilities as labels, logarithms of probabilities, a gate of softmax within a model

import jax
import jax.numpy as jnp
import optax


def distil(student, teacher, x):
    target = jax.nn.softmax(teacher(x) / 2.0)
    return optax.softmax_cross_entropy(student(x) / 2.0, target).mean()


def gated(w, x, y):
    gate = jax.nn.softmax(x @ w["gate"])
    logits = (gate * x) @ w["out"]
    return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()


def act(key, logits):
    logp = jax.nn.log_softmax(logits)
    again = jax.random.categorical(key, jnp.log(jax.nn.softmax(logits) + 1e-8))
    return jax.random.categorical(jax.random.fold_in(key, 1), logp), again


gated({"gate": jnp.ones((3, 3)), "out": jnp.ones((3, 2))}, jnp.ones((4, 3)), jnp.zeros(4, int))
act(jax.random.key(0), jnp.zeros(3))
