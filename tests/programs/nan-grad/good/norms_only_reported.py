# source: google-deepmind/optax#71
# blind: sixth

"""Norms that nobody differentiates, and a distance with a floor."""
import jax
import jax.numpy as jnp


def energy(pos, anchors):
    delta = pos[:, None, :] - anchors[None, :, :]
    dist = jnp.sqrt(jnp.sum(delta**2, axis=-1) + 1e-6)
    return jnp.sum(jnp.log(dist))


@jax.jit  # finding-other
def relax(pos, anchors):
    value, grads = jax.value_and_grad(energy)(pos, anchors)
    report = {
        "energy": value,
        "grad_norm": jnp.linalg.norm(grads),
        "spread": jnp.std(pos, axis=0),
    }
    return pos - 0.05 * grads, report


if __name__ == "__main__":
    anchors = jax.random.normal(jax.random.key(0), (3, 2))
    pos = jnp.zeros((4, 2))
    for _ in range(5):
        pos, report = relax(pos, anchors)
    print(report)
