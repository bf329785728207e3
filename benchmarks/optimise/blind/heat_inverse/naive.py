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
SENSORS = jnp.array([5, 14, 23, 31, 40, 49, 58])
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


@jax.jit
def euler_step(u, k, source):
    k_face = 0.5 * (k[1:] + k[:-1])
    flux = k_face * (u[1:] - u[:-1]) / DX
    flux = jnp.concatenate([jnp.zeros(1), flux, jnp.zeros(1)])
    return u + DT * ((flux[1:] - flux[:-1]) / DX - COOLING * u + source)


def simulate(k, source, u0):
    u = u0
    trace = []
    for n in range(STEPS):
        u = euler_step(u, k, source)
        if (n + 1) % 8 == 0:
            trace.append(u[SENSORS])
    return jnp.stack(trace), u


def roughness(theta):
    return jnp.sum(jnp.diff(theta, 2) ** 2)


def make_experiments(rng):
    experiments = []
    for position in [0.2, 0.5, 0.8]:
        source = heater(position)
        u0 = 1.0 + jnp.cos(3 * jnp.pi * x * position) + 20 * jnp.sin(2 * jnp.pi * 4 * x) ** 2
        clean, _ = simulate(true_conductivity(x), source, u0)
        noisy = np.array(clean) + 0.02 * rng.normal(size=clean.shape)
        experiments.append((source, u0, jnp.array(noisy, dtype=jnp.float32)))
    return experiments


def objective(theta, experiments):
    k = conductivity(theta)
    total = 0.0
    for source, u0, measured in experiments:
        predicted, _ = simulate(k, source, u0)
        total += jnp.mean((predicted - measured) ** 2)
    return total / len(experiments) + 1e-4 * roughness(theta)


def main():
    experiments = make_experiments(np.random.default_rng(4))
    theta = jnp.zeros(KNOTS)
    optimizer = optax.adam(0.15)
    state = optimizer.init(theta)
    value_and_grad = jax.value_and_grad(objective)

    # check one derivative by finite differences
    _, g = value_and_grad(theta, experiments)
    eps = 0.02
    bump = jnp.zeros(KNOTS).at[4].set(eps)
    fd = (objective(theta + bump, experiments) - objective(theta - bump, experiments)) / (2 * eps)
    print(f"derivative at knot 4: {float(g[4]):.2e}, by differences {float(fd):.2e}")

    best, best_theta = float("inf"), theta
    for it in range(24):
        value, g = value_and_grad(theta, experiments)
        if float(value) < best:
            best, best_theta = float(value), theta
        updates, state = optimizer.update(g, state)
        theta = optax.apply_updates(theta, updates)
        if it % 6 == 5:
            err = jnp.linalg.norm(conductivity(theta) - true_conductivity(x)) / jnp.linalg.norm(true_conductivity(x))
            print(f"iteration {it + 1}: objective {float(value):.3g} relative error {float(err):.3g}")

    k = conductivity(best_theta)
    print(f"best objective {best:.3g}")
    print("conductivity at x = 0.25, 0.5, 0.75: " + ", ".join(f"{float(k[int(p * N)]):.3g}" for p in (0.25, 0.5, 0.75)))

    # predict an experiment that was not measured
    u0 = jnp.ones(N)
    _, u_hat = simulate(k, heater(0.35), u0)
    _, u_true = simulate(true_conductivity(x), heater(0.35), u0)
    print(f"unseen heater: hottest {float(u_hat.max()):.3g}, truth {float(u_true.max()):.3g}")


if __name__ == "__main__":
    main()
