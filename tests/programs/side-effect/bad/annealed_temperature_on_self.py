# source: pyro-ppl/numpyro#1982
# blind: third

import jax
import jax.numpy as jnp
import optax


class SteinVI:
    def __init__(self, log_density, tx, n_steps):
        self.log_density = log_density
        self.tx = tx
        self.n_steps = n_steps
        self.temperature = 1.0

    def init(self, particles):
        return particles, self.tx.init(particles), jnp.int32(0)

    def _force(self, particles):
        score = jax.vmap(jax.grad(self.log_density))(particles)
        d2 = jnp.sum((particles[:, None] - particles[None]) ** 2, -1)
        k = jnp.exp(-d2)
        return -(self.temperature * k @ score) / particles.shape[0]

    def update(self, state):
        particles, opt_state, i = state
        self.temperature = jnp.minimum(1.0, i / self.n_steps)  # finding
        updates, opt_state = self.tx.update(self._force(particles), opt_state)
        return optax.apply_updates(particles, updates), opt_state, i + 1

    def run(self, particles):
        step = jax.jit(self.update)
        state = self.init(particles)
        for _ in range(self.n_steps):
            state = step(state)
        return state[0]


if __name__ == "__main__":
    svi = SteinVI(lambda x: -jnp.sum(x**2), optax.sgd(0.1), 5)
    print(svi.run(jnp.ones((3, 2))), svi.temperature)
