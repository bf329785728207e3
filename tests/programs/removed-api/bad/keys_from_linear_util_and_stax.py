# source: jax-ml/jax#170
# blind: eighth

import jax.numpy as jnp
from jax import random
from jax.experimental import stax  # finding
from jax.experimental.stax import Dense, Dropout, Relu  # finding-also

init_fun, apply_fun = stax.serial(Dense(64), Relu, Dropout(0.4), Dense(3))


def main():
    key = random.PRNGKey(0)
    init_key, drop_key = random.split(key)
    _, params = init_fun(init_key, (-1, 10))
    print(apply_fun(params, jnp.ones((2, 10)), rng=drop_key))


if __name__ == "__main__":
    main()
