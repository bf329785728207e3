# source: jax-ml/jax#3681
# blind: sixth

"""Python lists are filled while tracing; arrays are replaced."""
import jax
import jax.numpy as jnp


@jax.jit
def trajectory(x, forces):
    states = [None] * forces.shape[0]
    for i in range(forces.shape[0]):  # finding-other
        x = x.at[1].add(forces[i])
        x = x.at[0].add(x[1])
        states[i] = x
    states[0] = states[0].at[1].set(0.0)
    return jnp.stack(states)


if __name__ == "__main__":
    print(trajectory(jnp.zeros(2), jnp.ones(4)))
