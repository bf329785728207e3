# source: jax-ml/jax#2009
# blind: first

import jax
import jax.numpy as jnp


def metropolis(key, logp, x0, steps):
    def body(carry, _):
        key, x = carry
        key, sub = jax.random.split(key)
        proposal = x + 0.5 * jax.random.normal(sub, x.shape)
        accept = jnp.log(jax.random.uniform(sub)) < logp(proposal) - logp(x)  # finding
        x = jnp.where(accept, proposal, x)
        return (key, x), x

    _, xs = jax.lax.scan(body, (key, x0), None, length=steps)
    return xs


if __name__ == "__main__":
    print(metropolis(jax.random.key(1), lambda x: -0.5 * jnp.sum(x**2), jnp.zeros(2), 100).mean(0))
