# source: QuantEcon/lecture-jax#87
# blind: first

import jax
import jax.numpy as jnp


@jax.jit
def bellman(v, reward, transition, beta):
    return jnp.max(reward + beta * jnp.einsum("san,n->sa", transition, v), axis=1)


def solve(reward, transition, beta=0.96, tol=1e-5):
    v = jnp.zeros(reward.shape[0])
    error = tol + 1
    while error > tol:  # finding-also
        v_new = bellman(v, reward, transition, beta)
        error = float(jnp.max(jnp.abs(v_new - v)))  # finding
        v = v_new
    return v


if __name__ == "__main__":
    k = jax.random.key(0)
    transition = jax.nn.softmax(jax.random.normal(k, (30, 4, 30)))
    print(solve(jnp.ones((30, 4)), transition)[:3])
