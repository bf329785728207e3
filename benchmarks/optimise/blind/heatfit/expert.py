"""Find the heat conductivity of a layered rod from a few thermometers.

We solve u_t = (k(x) u_x)_x + source with an explicit scheme, differentiate
through the solver, and fit log k of every layer with Adam. The time horizon
grows in stages, which is more robust than to fit all of the data at once.
"""
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax

N_CELLS = 30
N_LAYERS = 5
DT = 0.2
STEPS_PER_READING = 8
SENSORS = np.array([3, 8, 14, 20, 25])
TRUE_K = np.array([0.8, 0.35, 1.3, 0.5, 1.0])


def initial_temperature():
    """The rod was heated by a flame at three places."""
    x = jnp.arange(N_CELLS)
    return sum(2.0 * jnp.exp(-0.5 * ((x - c) / 2.0) ** 2) for c in (5.0, 14.0, 23.0))


def heater(t):
    """Power of the heater at the left end."""
    return 1.0 + 0.5 * jnp.sin(0.15 * t)


def conductivity(log_k):
    """Conductivity at the faces between cells: the harmonic mean of its neighbours."""
    cells = jnp.repeat(jnp.exp(log_k), N_CELLS // N_LAYERS)
    return 2.0 * cells[1:] * cells[:-1] / (cells[1:] + cells[:-1])


def step(u, k_faces, t):
    flux = DT * k_faces * (u[1:] - u[:-1])
    change = jnp.pad(flux, (0, 1)) - jnp.pad(flux, (1, 0))
    change = change.at[0].add(DT * heater(t))
    return (u + change).at[-1].set(0.0)


@partial(jax.jit, static_argnums=1)
def simulate(log_k, n_readings):
    """The temperatures at the sensors, one row per reading."""
    k_faces = conductivity(log_k)

    def reading(u, times):
        u, _ = jax.lax.scan(lambda u, t: (step(u, k_faces, t), None), u, times, unroll=4)
        return u, u[SENSORS]

    times = np.arange(n_readings * STEPS_PER_READING, dtype=np.float32).reshape(n_readings, -1) * DT
    return jax.lax.scan(reading, initial_temperature(), times)[1]


def loss_fn(log_k, data):
    residual = simulate(log_k, len(data)) - data
    smooth = 1e-4 * jnp.sum((log_k[1:] - log_k[:-1]) ** 2)
    return jnp.mean(residual ** 2) + smooth


def make_fit(learning_rate):
    optimizer = optax.adam(learning_rate)

    def update(state):
        i, log_k, opt_state, _, data = state
        loss, grads = jax.value_and_grad(loss_fn)(log_k, data)
        updates, opt_state = optimizer.update(grads, opt_state, log_k)
        return i + 1, optax.apply_updates(log_k, updates), opt_state, loss, data

    @jax.jit
    def run(log_k, data, iterations):
        def go_on(state):
            return (state[0] < iterations) & (state[3] >= 1e-6)

        state = jax.lax.while_loop(go_on, update, (0, log_k, optimizer.init(log_k), jnp.inf, data))
        return state[1], state[3]

    def fit(log_k, data, n_readings, iterations):
        log_k, loss = run(log_k, data[:n_readings], iterations)
        return log_k, float(loss)

    return fit


@partial(jax.jit, static_argnums=1)
def sensitivities(log_k, n_readings):
    """The derivative of each reading by each parameter."""
    return jax.jacfwd(lambda p: simulate(p, n_readings))(log_k).reshape(-1, N_LAYERS)


def standard_errors(log_k, data, noise):
    jacobian = sensitivities(log_k, len(data))
    covariance = noise ** 2 * jnp.linalg.inv(jacobian.T @ jacobian)
    return jnp.sqrt(jnp.diag(covariance))


def main():
    n_readings, noise = 12, 0.03
    rng = np.random.default_rng(0)
    clean = simulate(jnp.log(TRUE_K), n_readings)
    data = np.asarray(clean) + rng.normal(0.0, noise, clean.shape)
    print(f"hottest reading: {data.max():.2f}")

    fit = make_fit(0.05)
    log_k = jnp.log(jnp.full(N_LAYERS, 0.7))
    for stage in (3, 6, 9, 12):
        log_k, loss = fit(log_k, data, stage, 150)
        print(f"stage {stage}: loss {loss:.5f}")

    errors = standard_errors(log_k, data, noise)
    for layer in range(N_LAYERS):
        k = float(jnp.exp(log_k[layer]))
        print(f"layer {layer}: k = {k:.2f} +- {k * float(errors[layer]):.3f} (true {TRUE_K[layer]:.2f})")


if __name__ == "__main__":
    main()
