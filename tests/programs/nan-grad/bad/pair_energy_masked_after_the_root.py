# source: jax-ml/jax#654
# blind: fourth

import equinox as eqx
import jax
import jax.numpy as jnp


def displacements(r):
    return r[:, None, :] - r[None, :, :]


def distances(r):
    return jnp.sqrt(jnp.sum(displacements(r) ** 2, axis=-1))  # finding


class SoftSpheres(eqx.Module):
    epsilon: jax.Array
    sigma: float = eqx.field(static=True)

    def __call__(self, r):
        d = distances(r)  # finding-also
        overlap = jnp.maximum(1.0 - d / self.sigma, 0.0)
        off_diagonal = 1.0 - jnp.eye(r.shape[0])
        return 0.5 * self.epsilon * jnp.sum(off_diagonal * overlap**2)


@eqx.filter_jit
def minimise_step(model, r, dt):
    forces = -jax.grad(model)(r)
    return r + dt * forces


def main():
    model = SoftSpheres(jnp.array(1.0), 1.0)
    r = jax.random.uniform(jax.random.key(0), (16, 2)) * 4
    for _ in range(3):
        r = minimise_step(model, r, 0.1)
    print(r[:2])


if __name__ == "__main__":
    main()
