# source: jax-ml/jax#3478
# blind: second

import jax
import jax.numpy as jnp


class HamiltonianSampler:
    def __init__(self, log_density, step_size, num_steps=200):
        self.log_density = log_density
        self.step_size = step_size
        self.num_steps = num_steps

    def leapfrog(self, q, p):
        grad = jax.grad(self.log_density)

        def move(_, phase):
            q, p = phase
            q = q + self.step_size * p
            return q, p + self.step_size * grad(q)

        p = p + 0.5 * self.step_size * grad(q)
        q, p = jax.lax.fori_loop(0, self.num_steps, move, (q, p))
        return q, p - 0.5 * self.step_size * grad(q)

    def energy(self, q, p):
        return -self.log_density(q) + 0.5 * p @ p

    def kernel(self, q, key):
        momentum_key, accept_key = jax.random.split(key)
        p = jax.random.normal(momentum_key, q.shape)
        new_q, new_p = self.leapfrog(q, p)
        delta = self.energy(q, p) - self.energy(new_q, new_p)
        q = jnp.where(jnp.log(jax.random.uniform(accept_key)) < delta, new_q, q)
        return q, q

    def sample(self, q, key, draws):
        return jax.lax.scan(self.kernel, q, jax.random.split(key, draws))[1]


if __name__ == "__main__":
    sampler = HamiltonianSampler(lambda q: -0.5 * jnp.sum(q**2), 0.05)
    print(sampler.sample(jnp.zeros(3), jax.random.key(0), 3).shape)
