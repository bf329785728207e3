# source: jaxleyverse/jaxley#806
# blind: eighteenth

import jax
import jax.numpy as jnp

DT = 0.025


def save_exp(x, max_value=20.0):
    return jnp.exp(jnp.clip(x, a_max=max_value))  # finding


def alpha_m(v):
    return 0.1 * (v + 40.0) / (1.0 - save_exp(-(v + 40.0) / 10.0) + 1e-6)


def beta_m(v):
    return 4.0 * save_exp(-(v + 65.0) / 18.0)


def gate_step(m, v):
    a, b = alpha_m(v), beta_m(v)
    tau = 1.0 / (a + b)
    m_inf = a * tau
    return m_inf + (m - m_inf) * jnp.exp(-DT / tau)


@jax.jit
def simulate(v_trace, m0):
    def body(m, v):
        m = gate_step(m, v)
        return m, m

    return jax.lax.scan(body, m0, v_trace)[1]


def main():
    v = -65.0 + 40.0 * jnp.sin(jnp.linspace(0.0, 3.0, 100))
    v = jnp.clip(v, -90.0, 40.0)
    print(simulate(v, jnp.asarray(0.05))[-1])


if __name__ == "__main__":
    main()
