# source: blackjax-devs/blackjax#196
# blind: sixth

"""Counters travel in the carry; the host keeps the books."""
import jax
import jax.numpy as jnp


class Sampler:
    def __init__(self, scale):
        self.scale = scale
        self.history = []

    def kernel(self, carry, key):
        x, accepted = carry
        k1, k2 = jax.random.split(key)
        new = x + self.scale * jax.random.normal(k1, x.shape)
        ok = jnp.log(jax.random.uniform(k2)) < 0.5 * (x @ x - new @ new)
        return (jnp.where(ok, new, x), accepted + ok), x

    def run(self, key, x0, n):
        (_, accepted), xs = jax.lax.scan(self.kernel, (x0, 0), jax.random.split(key, n))
        self.history.append(float(accepted) / n)
        print("accepted", self.history[-1])
        return xs


if __name__ == "__main__":
    Sampler(0.5).run(jax.random.key(0), jnp.zeros(2), 50)
