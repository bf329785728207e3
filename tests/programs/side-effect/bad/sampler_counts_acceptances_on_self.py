# source: blackjax-devs/blackjax#196
# blind: sixth

"""Random-walk Metropolis."""
import jax
import jax.numpy as jnp


class Metropolis:
    def __init__(self, logp, scale):
        self.logp = logp
        self.scale = scale
        self.accepted = 0

    def kernel(self, x, key):
        k1, k2 = jax.random.split(key)
        proposal = x + self.scale * jax.random.normal(k1, x.shape)
        ratio = self.logp(proposal) - self.logp(x)
        accept = jnp.log(jax.random.uniform(k2)) < ratio
        self.accepted += accept  # finding
        return jnp.where(accept, proposal, x), x

    def run(self, key, x0, n):
        _, xs = jax.lax.scan(self.kernel, x0, jax.random.split(key, n))
        return xs, self.accepted / n


if __name__ == "__main__":
    sampler = Metropolis(lambda x: -0.5 * jnp.sum(x**2), 0.5)
    print(sampler.run(jax.random.key(0), jnp.zeros(2), 100)[1])
