# source: jax-ml/jax#3103
# blind: sixth

"""Step-size control of an embedded Runge-Kutta pair."""
import jax
import jax.numpy as jnp


def heun(f, t, y, h):
    k1 = f(t, y)
    k2 = f(t + h, y + h * k1)
    return y + 0.5 * h * (k1 + k2), jnp.max(jnp.abs(0.5 * h * (k2 - k1)))


def accept(t, y_new, h):
    return t + h, y_new, 1.5 * h


def reject(t, y, h):
    return t, y, 0.5 * h


def make_stepper(f, tol):
    @jax.jit
    def step(t, y, h):
        y_new, err = heun(f, t, y, h)
        return jax.lax.cond(err < tol, accept(t, y_new, h), reject(t, y, h))  # finding

    return step


if __name__ == "__main__":
    stepper = make_stepper(lambda t, y: -y, 1e-3)
    state = (jnp.float32(0.0), jnp.ones(2), jnp.float32(0.1))
    for _ in range(4):
        state = stepper(*state)
    print(state)
