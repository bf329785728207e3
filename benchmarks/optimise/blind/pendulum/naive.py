import jax
import jax.numpy as jnp
import numpy as np

G, L1, L2, M1, M2 = 9.81, 1.0, 0.8, 1.0, 0.6


@jax.jit
def derivative(state):
    t1, t2, w1, w2 = state["angle1"], state["angle2"], state["spin1"], state["spin2"]
    d = t1 - t2
    denominator = 2 * M1 + M2 - M2 * jnp.cos(2 * d)
    a1 = (
        -G * (2 * M1 + M2) * jnp.sin(t1)
        - M2 * G * jnp.sin(t1 - 2 * t2)
        - 2 * jnp.sin(d) * M2 * (w2**2 * L2 + w1**2 * L1 * jnp.cos(d))
    ) / (L1 * denominator)
    a2 = (
        2 * jnp.sin(d) * (w1**2 * L1 * (M1 + M2) + G * (M1 + M2) * jnp.cos(t1) + w2**2 * L2 * M2 * jnp.cos(d))
    ) / (L2 * denominator)
    return {"angle1": w1, "angle2": w2, "spin1": a1, "spin2": a2}


def shift(state, slope, h):
    return jax.tree.map(lambda s, k: s + h * k, state, slope)


def rk4(state, h):
    k1 = derivative(state)
    k2 = derivative(shift(state, k1, h / 2))
    k3 = derivative(shift(state, k2, h / 2))
    k4 = derivative(shift(state, k3, h))
    return jax.tree.map(lambda s, a, b, c, d: s + h / 6 * (a + 2 * b + 2 * c + d), state, k1, k2, k3, k4)


def energy(state):
    t1, t2, w1, w2 = state["angle1"], state["angle2"], state["spin1"], state["spin2"]
    kinetic = 0.5 * M1 * (L1 * w1) ** 2 + 0.5 * M2 * (
        (L1 * w1) ** 2 + (L2 * w2) ** 2 + 2 * L1 * L2 * w1 * w2 * jnp.cos(t1 - t2)
    )
    potential = -(M1 + M2) * G * L1 * jnp.cos(t1) - M2 * G * L2 * jnp.cos(t2)
    return jnp.mean(kinetic + potential)


def simulate(state, h, steps):
    times, energies, path = [], [], []
    t = 0.0
    for _ in range(steps):
        state = rk4(state, h)
        t += h
        times.append(t)
        energies.append(float(energy(state)))
        path.append(np.array(state["angle2"]))
    return state, times, energies, np.stack(path)


def main():
    starts = jnp.linspace(0.5, 0.9, 256)
    state = {"angle1": starts, "angle2": starts * 0.5, "spin1": jnp.zeros(256), "spin2": jnp.zeros(256)}
    for part in range(4):
        state, times, energies, path = simulate(state, 0.005, 200)
        drift = max(energies) - min(energies)
        print(f"part {part}: t {times[-1]:.3f} energy {energies[-1]:.4f} drift {drift:.1e} spread {path[-1].std():.3f}")


if __name__ == "__main__":
    main()
