# blind: twenty-first

import jax
import jax.numpy as jnp
import numpy as np


def kepler(ecc_anomaly, mean_anomaly, eccentricity):
    return ecc_anomaly - eccentricity * jnp.sin(ecc_anomaly) - mean_anomaly


@jax.jit
def newton_step(ecc_anomaly, mean_anomaly, eccentricity):
    value, slope = jax.value_and_grad(kepler)(ecc_anomaly, mean_anomaly, eccentricity)
    new = ecc_anomaly - value / slope
    return new, jnp.abs(kepler(new, mean_anomaly, eccentricity))


def solve(mean_anomaly, eccentricity, tol=1e-5, max_iter=20):
    guess = mean_anomaly
    for _ in range(max_iter):  # finding-also
        guess, err = newton_step(guess, mean_anomaly, eccentricity)  # finding-also
        if float(err) < tol:  # finding
            break
    return guess


def solve_catalogue(mean_anomaly, eccentricity):
    solutions = [solve(m, e) for m, e in zip(mean_anomaly, eccentricity)]  # finding-also
    return jnp.stack(solutions)


def to_cartesian(ecc_anomaly, eccentricity, semi_major):
    x = semi_major * (jnp.cos(ecc_anomaly) - eccentricity)
    y = semi_major * jnp.sqrt(1 - eccentricity ** 2) * jnp.sin(ecc_anomaly)
    return jnp.stack([x, y], axis=-1)


class Catalogue:
    def __init__(self, n, seed=0):
        rng = np.random.default_rng(seed)
        self.mean_anomaly = jnp.asarray(rng.uniform(0.1, 3.0, size=n), jnp.float32)
        self.eccentricity = jnp.asarray(rng.uniform(0.0, 0.6, size=n), jnp.float32)
        self.semi_major = jnp.asarray(rng.lognormal(0.0, 0.3, size=n), jnp.float32)

    def positions(self):
        anomaly = solve_catalogue(self.mean_anomaly, self.eccentricity)
        return to_cartesian(anomaly, self.eccentricity, self.semi_major)


def main():
    catalogue = Catalogue(3000)
    positions = catalogue.positions()
    radius = jnp.linalg.norm(positions, axis=1)
    print("positions", positions.shape, "mean radius", float(radius.mean()))


if __name__ == "__main__":
    main()
