# an evaluation that is told to train
import jax
import jax.numpy as jnp


def network(w, x, key, is_training):
    if is_training:
        x = x * jax.random.bernoulli(key, 0.8, x.shape) / 0.8
    return x @ w


def eval_loss(w, x, key, is_training):
    return jnp.mean(network(w, x, key, is_training) ** 2)


def train_loss(w, x, key, is_training):
    return jnp.mean(network(w, x, key, is_training) ** 2)


def validate(w, x, training):
    return jnp.mean(network(w, x, None, training) ** 2)


def evaluate_split(rows, training):
    return rows["train"] if training else rows["test"]


w, x, key = jnp.ones((3, 2)), jnp.ones((4, 3)), jax.random.key(0)
grad = jax.grad(train_loss)(w, x, key, is_training=True)
one = eval_loss(w, x, key, is_training=True)  # finding
two = eval_loss(w, x, key, is_training=False)
three = validate(w, x, training=False)
rows = evaluate_split({"train": x, "test": x}, training=True)
