# source: jax-ml/jax#14655
# blind: first

import jax
import jax.numpy as jnp


def build_operator(n):
    stencil = 2 * jnp.eye(n) - jnp.eye(n, k=1) - jnp.eye(n, k=-1)

    def product(v):
        return stencil @ v  # finding-also

    return product


operator = build_operator(3000)


@jax.jit
def energy(u):
    return 0.5 * u @ operator(u)  # finding


if __name__ == "__main__":
    print(energy(jnp.ones(3000)), jax.grad(energy)(jnp.ones(3000))[:2])
