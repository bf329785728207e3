# source: jax-ml/jax#2251
# blind: first

from functools import partial

import jax
import jax.numpy as jnp
from jax import lax


def simulate_epidemic(beta, gamma, n_steps):
    @partial(jax.jit, static_argnums=1)
    def run(state, length):  # finding-also
        def infect(carry, _):
            s, i = carry
            new = beta * s * i
            return (s - new, i + new - gamma * i), i

        return lax.scan(infect, state, None, length=length)[1]

    return run((jnp.float32(0.99), jnp.float32(0.01)), n_steps)  # finding


def fit(betas, observed):
    errors = []
    for beta in betas:
        errors.append(jnp.mean((simulate_epidemic(beta, 0.1, 50) - observed) ** 2))
    return min(range(len(errors)), key=lambda i: errors[i])


if __name__ == "__main__":
    print(fit([0.1 * k for k in range(1, 8)], jnp.zeros(50)))
