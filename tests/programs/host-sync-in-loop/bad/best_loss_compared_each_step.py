# source: optuna/optuna#4210
# blind: first

import jax
import jax.numpy as jnp
import optax

opt = optax.lbfgs()


def rosen(x):
    return jnp.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


@jax.jit
def iterate(x, state):
    value, grad = optax.value_and_grad_from_state(rosen)(x, state=state)
    updates, state = opt.update(grad, state, x, value=value, grad=grad, value_fn=rosen)
    return optax.apply_updates(x, updates), state, value


def minimise(x, n=100):
    state = opt.init(x)
    best, best_x = jnp.inf, x
    for _ in range(n):
        x, state, value = iterate(x, state)
        if value < best:  # finding
            best, best_x = value, x
    return best_x


if __name__ == "__main__":
    print(minimise(jnp.zeros(3), 5))
