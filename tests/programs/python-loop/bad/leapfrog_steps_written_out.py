# source: jax-ml/jax#3478
# blind: second

import jax
import jax.numpy as jnp


class HamiltonianSampler:
    def __init__(self, log_density, step_size, num_steps=200):
        self.log_density = log_density
        self.step_size = step_size
        self.num_steps = num_steps
        self.kernel = jax.jit(self._kernel)

    def leapfrog(self, q, p):
        grad = jax.grad(self.log_density)
        p = p + 0.5 * self.step_size * grad(q)
        for _ in range(self.num_steps):  # finding
            q = q + self.step_size * p
            p = p + self.step_size * grad(q)
        return q, p - 0.5 * self.step_size * grad(q)

    def energy(self, q, p):
        return -self.log_density(q) + 0.5 * p @ p

    def _kernel(self, q, key):
        momentum_key, accept_key = jax.random.split(key)
        p = jax.random.normal(momentum_key, q.shape)
        new_q, new_p = self.leapfrog(q, p)
        delta = self.energy(q, p) - self.energy(new_q, new_p)
        return jnp.where(jnp.log(jax.random.uniform(accept_key)) < delta, new_q, q)

    def sample(self, q, key, draws):
        out = []
        for sub in jax.random.split(key, draws):
            q = self.kernel(q, sub)
            out.append(q)
        return jnp.stack(out)


if __name__ == "__main__":
    sampler = HamiltonianSampler(lambda q: -0.5 * jnp.sum(q**2), 0.05)
    print(sampler.sample(jnp.zeros(3), jax.random.key(0), 3).shape)
