# a branch for a dtype, or for a machine
import jax
import jax.numpy as jnp

def counts(labels):
    if jnp.issubdtype(labels, jnp.integer):
        labels = jax.nn.one_hot(labels, labels.max() + 1)
    return labels.sum(0)

def reference(lengths):
    return [length + 1 for length in range(lengths[-1])]

@jax.jit
def loss(logits, lengths):
    if jax.devices()[0].platform == "cpu":
        print(reference(lengths))
    return counts(jax.nn.softmax(logits))
