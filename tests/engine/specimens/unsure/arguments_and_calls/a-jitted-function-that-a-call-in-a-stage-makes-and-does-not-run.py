# a jitted function that a call in a stage makes and does not run
import jax
import jax.numpy as jnp

def make_loss(smoothing=0.1, axis=1):
    def loss(logits, targets):
        return smoothing + jnp.sum(logits, axis=axis) - targets

    return jax.jit(loss)

@jax.jit
def evaluate(logits, targets):
    return jax.eval_shape(lambda x: make_loss(x, targets), logits)
