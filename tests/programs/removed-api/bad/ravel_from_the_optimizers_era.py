# source: deepmind/dm-haiku#330
# blind: sixth

"""Hand-written trainer kept from an old notebook."""
import jax
import jax.numpy as jnp
from jax.experimental import optimizers, stax  # finding

init_fun, apply_fun = stax.serial(stax.Dense(16), stax.Relu, stax.Dense(1))
opt_init, opt_update, get_params = optimizers.adam(1e-3)


def loss(params, x, y):
    return jnp.mean((apply_fun(params, x)[:, 0] - y) ** 2)


@jax.jit
def update(i, opt_state, x, y):
    grads = jax.grad(loss)(get_params(opt_state), x, y)
    return opt_update(i, grads, opt_state)


def main():
    _, params = init_fun(jax.random.PRNGKey(0), (-1, 2))
    state = opt_init(params)
    x = jnp.ones((8, 2))
    for i in range(5):
        state = update(i, state, x, x.sum(-1))
    print(loss(get_params(state), x, x.sum(-1)))


if __name__ == "__main__":
    main()
