# source: QuantEcon/lecture-jax#87
# blind: first

import jax
import jax.numpy as jnp


def bellman(v, reward, transition, beta):
    return jnp.max(reward + beta * jnp.einsum("san,n->sa", transition, v), axis=1)


@jax.jit
def solve(reward, transition, beta=0.96, tol=1e-5):
    def unfinished(state):
        return state[1] > tol

    def improve(state):
        v, _ = state
        v_new = bellman(v, reward, transition, beta)
        return v_new, jnp.max(jnp.abs(v_new - v))

    return jax.lax.while_loop(unfinished, improve, (jnp.zeros(reward.shape[0]), jnp.inf))[0]


if __name__ == "__main__":
    transition = jax.nn.softmax(jax.random.normal(jax.random.key(0), (30, 4, 30)))
    print(solve(jnp.ones((30, 4)), transition)[:3])
