# source: jax-ml/jax#9046
# blind: eighth

import jax
import jax.numpy as jnp


@jax.jit
def collect(x0, limit):
    def cond(state):
        x, trace = state
        return x < limit

    def body(state):
        x, trace = state
        return 2 * x, jnp.append(trace, x)  # finding

    return jax.lax.while_loop(cond, body, (x0, jnp.array([x0])))[1]  # finding-also


if __name__ == "__main__":
    print(collect(1.0, 20.0))
