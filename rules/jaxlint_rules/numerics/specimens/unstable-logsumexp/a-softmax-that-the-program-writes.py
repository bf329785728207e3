# the logarithm of a softmax that the program writes
import jax
import jax.numpy as jnp


@jax.jit
def loss(logits, labels):
    shifted = logits - logits.max(axis=1, keepdims=True)
    e = jnp.exp(shifted)
    probabilities = e * e.sum(axis=1, keepdims=True) ** -1
    return -jnp.log(probabilities)[jnp.arange(len(labels)), labels].mean()  # finding


@jax.jit
def divided(logits, labels):
    e = jnp.exp(logits - logits.max(axis=1, keepdims=True))
    p = e / jnp.sum(e, axis=1, keepdims=True)
    return -jnp.log(p)[jnp.arange(len(labels)), labels].mean()  # finding


@jax.jit
def counts(rows):
    p = rows / rows.sum(axis=1, keepdims=True)
    return -jnp.sum(p * jnp.log(p + 1e-9))


@jax.jit
def guarded(logits):
    e = jnp.exp(logits - logits.max(axis=1, keepdims=True))
    p = e / jnp.sum(e, axis=1, keepdims=True)
    return jnp.log(p + 1e-9)


labels = jnp.arange(3)
loss(jnp.ones((3, 4)), labels)
divided(jnp.ones((3, 4)), labels)
counts(jnp.ones((3, 4)))
guarded(jnp.ones((3, 4)))
