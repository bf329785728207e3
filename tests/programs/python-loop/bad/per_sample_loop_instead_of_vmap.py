# source: jax-ml/jax#1131
# blind: first

import jax
import jax.numpy as jnp


def score(params, molecule):
    h = jnp.tanh(molecule @ params["w"])
    return jnp.sum(h @ params["v"])


def batch_loss(params, molecules, energies):
    predictions = jnp.stack([score(params, molecules[i]) for i in range(molecules.shape[0])])  # finding
    return jnp.mean((predictions - energies) ** 2)


@jax.jit
def gradient(params, molecules, energies):
    return jax.grad(batch_loss)(params, molecules, energies)


if __name__ == "__main__":
    p = {"w": jnp.ones((3, 4)), "v": jnp.ones((4,))}
    gradient(p, jnp.ones((64, 5, 3)), jnp.ones(64))
