# source: probml/probml-utils#33

import jax
import jax.numpy as jnp
from jax.experimental import optimizers  # finding

init_fun, update_fun, get_params = optimizers.adam(1e-2)  # finding-also


def loss(params, x):
    return jnp.sum((params - x) ** 2)


@jax.jit
def step(i, state, x):
    return update_fun(i, jax.grad(loss)(get_params(state), x), state)


def main():
    state = init_fun(jnp.zeros(3))
    for i in range(10):
        state = step(i, state, jnp.ones(3))
    print(get_params(state))


main()
