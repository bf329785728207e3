# masks that were cast to integers, or chosen between 0 and 1
import jax
import jax.numpy as jnp


def padding_mask(tokens):
    return (tokens != 0).astype(jnp.int32)


@jax.jit
def masked(scores, tokens):
    mask = padding_mask(tokens)
    return jnp.where(~mask, -1e9, scores)  # finding


@jax.jit
def broadcast(scores, tokens):
    mask = (tokens != 0).astype(jnp.int32)[:, None]
    return scores * ~mask  # finding


@jax.jit
def chosen(x):
    done = jnp.where(x > 1.0, 1, 0)
    return jnp.sum(~done)  # finding
