# fractions written to an array like counts
import jax
import jax.numpy as jnp


@jax.jit
def weights(labels, ranks):
    counts = jnp.bincount(labels, length=5)
    table = jnp.zeros_like(counts)
    return table.at[jnp.argsort(counts)].set(1.0 - 0.5 * ranks / 5)  # finding


@jax.jit
def weighted(labels, scores, ranks):
    totals = jnp.bincount(labels, scores, length=5)
    return jnp.zeros_like(totals).at[0].set(0.5 * ranks / 5)
