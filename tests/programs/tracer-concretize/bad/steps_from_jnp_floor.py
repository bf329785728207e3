# source: jax-ml/jax#5017

import jax
import jax.numpy as jnp


def fixed_step_solve(rhs, t_span, y0, max_dt):
    delta = t_span[1] - t_span[0]
    steps = jnp.ceil(delta / max_dt).astype(int)
    h = delta / steps

    def scan_func(y, step):
        return y + h * rhs(t_span[0] + h * step, y), None

    return jax.lax.scan(scan_func, y0, jnp.arange(steps))[0]  # finding


def simulate(coeff):
    def rhs(t, y):
        return coeff * y * jnp.cos(t)

    return fixed_step_solve(rhs, t_span=[0.0, 0.5], y0=jnp.array(1.0), max_dt=0.1)


sensitivity = jax.jit(jax.value_and_grad(simulate))

if __name__ == "__main__":
    print(sensitivity(0.3))
