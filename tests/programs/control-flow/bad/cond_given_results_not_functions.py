# source: jax-ml/jax#2092
# blind: first

import jax
import jax.numpy as jnp


def explore(q, key):
    return jax.random.randint(key, (), 0, q.shape[-1])


def exploit(q, key):
    del key
    return jnp.argmax(q)


@jax.jit
def act(q, key, epsilon):
    k_eps, k_act = jax.random.split(key)
    greedy = jax.random.uniform(k_eps) > epsilon
    return jax.lax.cond(greedy, exploit(q, k_act), explore(q, k_act))  # finding


if __name__ == "__main__":
    print(act(jnp.arange(3.0), jax.random.key(0), 0.1))
