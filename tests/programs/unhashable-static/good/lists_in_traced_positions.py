# source: jax-ml/jax#7826
# blind: sixth

"""Lists and dicts of arrays are pytrees; only the flag is static."""
from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnums=(2,))
def mlp(params, x, residual):
    for layer in params:  # finding-other
        h = jnp.tanh(x @ layer["w"] + layer["b"])
        x = x + h if residual else h
    return x


def main():
    params = [{"w": jnp.eye(3), "b": jnp.zeros(3)} for _ in range(2)]
    print(mlp(params, jnp.ones((1, 3)), True), mlp([params[0]], jnp.ones((1, 3)), False))


if __name__ == "__main__":
    main()
