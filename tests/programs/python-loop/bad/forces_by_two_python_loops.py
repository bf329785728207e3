# source: jax-ml/jax#25703
# blind: fifth
# missed: twelve bodies are few, and how many there will be is not known

import jax
import jax.numpy as jnp


@jax.jit
def accelerations(positions, masses):
    n = positions.shape[0]
    acc = []
    for i in range(n):  # finding
        total = jnp.zeros(3)
        for j in range(n):  # finding-also
            if i != j:
                r = positions[j] - positions[i]
                total = total + masses[j] * r / (jnp.linalg.norm(r) ** 3 + 1e-6)
        acc.append(total)
    return jnp.stack(acc)


def leapfrog(positions, velocities, masses, dt):
    velocities = velocities + 0.5 * dt * accelerations(positions, masses)
    positions = positions + dt * velocities
    return positions, velocities + 0.5 * dt * accelerations(positions, masses)


if __name__ == "__main__":
    positions = jax.random.normal(jax.random.key(0), (12, 3))
    print(leapfrog(positions, jnp.zeros((12, 3)), jnp.ones(12), 0.01)[0].shape)
