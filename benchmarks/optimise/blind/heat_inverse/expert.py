"""Recover the conductivity of a rod from a few thermometers, by gradients through the heat equation.

u_t = (k(x) u_x)_x - c u + source(x), explicit Euler in time, central differences in space.
"""
import jax
import jax.numpy as jnp
import numpy as np
import optax

N = 64
STEPS = 80
DX = 1.0 / N
DT = 0.35 * DX**2
COOLING = 5.0
SENSORS = np.array([5, 14, 23, 31, 40, 49, 58])
KNOTS = 9
x = jnp.linspace(0.5 * DX, 1 - 0.5 * DX, N)


def true_conductivity(x):
    return 0.6 + 0.3 * jnp.sin(4 * x) + 0.35 * jnp.exp(-(((x - 0.65) / 0.1) ** 2))


def heater(position, width=0.07):
    return 400.0 * jnp.exp(-(((x - position) / width) ** 2))


def conductivity(theta):
    """Piecewise linear between the knots, positive."""
    knots = jnp.linspace(0, 1, KNOTS)
    return jnp.interp(x, knots, jax.nn.softplus(theta))


def euler_step(u, k, source):
    k_face = 0.5 * (k[1:] + k[:-1])
    flux = k_face * (u[1:] - u[:-1]) / DX
    flux = jnp.concatenate([jnp.zeros(1), flux, jnp.zeros(1)])
    return u + DT * ((flux[1:] - flux[:-1]) / DX - COOLING * u + source)


@jax.jit
def simulate(k, source, u0):
    def eight_steps(u, _):
        u, _ = jax.lax.scan(lambda u, _: (euler_step(u, k, source), None), u, None, length=8)
        return u, u[SENSORS]

    u, trace = jax.lax.scan(eight_steps, u0, None, length=STEPS // 8)
    return trace, u


simulate_all = jax.jit(jax.vmap(simulate, in_axes=(None, 0, 0)))


def roughness(theta):
    return jnp.sum(jnp.diff(theta, 2) ** 2)


@jax.jit
def clean_experiments(positions):
    sources = heater(positions)
    u0 = 1.0 + jnp.cos(3 * jnp.pi * x * positions) + 20 * jnp.sin(2 * jnp.pi * 4 * x) ** 2
    return sources, u0, simulate_all(true_conductivity(x), sources, u0)[0]


def make_experiments(rng):
    sources, u0, clean = clean_experiments(np.array([[0.2], [0.5], [0.8]], np.float32))
    noisy = np.array(clean) + 0.02 * rng.normal(size=clean.shape)
    return sources, u0, noisy.astype(np.float32)


@jax.jit
def objective(theta, experiments):
    sources, u0, measured = experiments
    predicted, _ = simulate_all(conductivity(theta), sources, u0)
    return jnp.mean((predicted - measured) ** 2) + 1e-4 * roughness(theta)


value_and_grad = jax.value_and_grad(objective)
optimizer = optax.adam(0.15)


@jax.jit
def fit(theta, experiments):
    truth = true_conductivity(x)

    def iteration(carry, _):
        theta, state, best, best_theta = carry
        value, g = value_and_grad(theta, experiments)
        better = value < best
        best, best_theta = jnp.where(better, value, best), jnp.where(better, theta, best_theta)
        updates, state = optimizer.update(g, state)
        theta = optax.apply_updates(theta, updates)
        err = jnp.linalg.norm(conductivity(theta) - truth) / jnp.linalg.norm(truth)
        return (theta, state, best, best_theta), (value, g, err)

    start = (theta, optimizer.init(theta), jnp.inf, theta)
    (_, _, best, best_theta), history = jax.lax.scan(iteration, start, None, length=24)
    return best, best_theta, history


def main():
    experiments = make_experiments(np.random.default_rng(4))
    theta = np.zeros(KNOTS, np.float32)
    best, best_theta, (values, grads, errors) = jax.device_get(fit(theta, experiments))

    # check one derivative by finite differences
    eps = 0.02
    bump = np.zeros(KNOTS, np.float32)
    bump[4] = eps
    fd = (objective(theta + bump, experiments) - objective(theta - bump, experiments)) / (2 * eps)
    print(f"derivative at knot 4: {grads[0, 4]:.2e}, by differences {fd:.2e}")

    for it in range(5, 24, 6):
        print(f"iteration {it + 1}: objective {values[it]:.3g} relative error {errors[it]:.3g}")

    k = jax.jit(conductivity)(best_theta)
    at = np.asarray(k)[[int(p * N) for p in (0.25, 0.5, 0.75)]]
    print(f"best objective {best:.3g}")
    print("conductivity at x = 0.25, 0.5, 0.75: " + ", ".join(f"{v:.3g}" for v in at))

    # predict an experiment that was not measured
    u0, source = np.ones(N, np.float32), jax.jit(heater)(0.35)
    _, u_hat = simulate(k, source, u0)
    _, u_true = simulate(jax.jit(true_conductivity)(x), source, u0)
    print(f"unseen heater: hottest {np.max(u_hat):.3g}, truth {np.max(u_true):.3g}")


if __name__ == "__main__":
    main()
