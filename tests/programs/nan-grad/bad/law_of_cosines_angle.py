# source: patrick-kidger/equinox#104
# blind: sixth

"""Bond-angle energies of a molecule."""
import jax
import jax.numpy as jnp


def angles(pos, triples):
    i, j, k = triples.T
    u = pos[i] - pos[j]
    v = pos[k] - pos[j]
    dot = jnp.sum(u * v, axis=-1)
    cosine = dot / (jnp.linalg.norm(u, axis=-1) * jnp.linalg.norm(v, axis=-1))
    return jnp.arccos(cosine)  # finding


def energy(params, pos, triples):
    return jnp.sum(params["k"] * (angles(pos, triples) - params["theta0"]) ** 2)


forces = jax.jit(jax.grad(energy, argnums=1))


def main():
    pos = jnp.array([[1.0, 0.0, 0.0], [0.0, 0.0, 0.0], [-1.0, 0.0, 0.0]])
    triples = jnp.array([[0, 1, 2]])
    params = {"k": jnp.ones(1), "theta0": jnp.full(1, 1.9)}
    print(forces(params, pos, triples))


if __name__ == "__main__":
    main()
