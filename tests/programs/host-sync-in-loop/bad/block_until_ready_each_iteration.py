# source: jax-ml/jax#1219

import jax
import jax.numpy as jnp


@jax.jit
def lattice_step(f, tau):
    rho = f.sum(-1)
    equilibrium = jnp.broadcast_to(rho[..., None] / f.shape[-1], f.shape)
    collided = f - (f - equilibrium) / tau
    return jnp.stack([jnp.roll(collided[..., i], i - 1, axis=0) for i in range(3)], -1)


class Solver:
    def __init__(self, shape, tau=0.8):
        self.f = jnp.ones((*shape, 3)) + 0.1 * jnp.arange(3.0)
        self.tau = tau

    def advance(self):
        self.f = lattice_step(self.f, self.tau)
        self.f.block_until_ready()  # finding-also

    def run(self, n_steps):
        for _ in range(n_steps):
            self.advance()  # finding
        return self.f


if __name__ == "__main__":
    print(Solver((16, 16)).run(20).mean())
