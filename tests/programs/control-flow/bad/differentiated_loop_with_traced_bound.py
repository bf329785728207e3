# source: google/jax#2129
# blind: sixth

"""Fitting a decay constant through an Euler integrator."""
import jax
import jax.numpy as jnp


def integrate(rate, y0, t_end, dt):
    n = (t_end / dt).astype(jnp.int32)

    def euler(_, y):
        return y - dt * rate * y

    return jax.lax.fori_loop(0, n, euler, y0)  # finding


def misfit(rate, y0, t_end, observed):
    return (integrate(rate, y0, t_end, 0.01) - observed) ** 2


@jax.jit
def fit_step(rate, y0, t_end, observed):
    value, slope = jax.value_and_grad(misfit)(rate, y0, t_end, observed)  # finding-also
    return rate - 0.1 * slope, value


if __name__ == "__main__":
    rate = jnp.float32(0.5)
    for _ in range(5):
        rate, value = fit_step(rate, jnp.float32(1.0), jnp.float32(1.0), 0.3)
    print(rate, value)
