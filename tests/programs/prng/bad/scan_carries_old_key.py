# source: jax-ml/jax#8189
# blind: first

import jax
import jax.numpy as jnp


def metropolis(logp, step_size):
    def transition(carry, _):
        key, x = carry
        k_prop, k_acc = jax.random.split(key)  # finding-also
        proposal = x + step_size * jax.random.normal(k_prop, x.shape)
        log_ratio = logp(proposal) - logp(x)
        accept = jnp.log(jax.random.uniform(k_acc)) < log_ratio
        x = jnp.where(accept, proposal, x)
        return (key, x), x  # finding

    return transition


@jax.jit
def sample(key, x0):
    kernel = metropolis(lambda x: -0.5 * jnp.sum(x**2), 0.3)
    _, chain = jax.lax.scan(kernel, (key, x0), None, length=500)
    return chain


if __name__ == "__main__":
    print(sample(jax.random.key(1), jnp.zeros(2)).std(0))
