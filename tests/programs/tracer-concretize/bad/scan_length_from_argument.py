# source: jax-ml/jax#12303
# blind: first

import jax
import jax.numpy as jnp


def simulate(rate, dt, duration):
    steps = duration / dt

    def euler(y, _):
        return y - dt * rate * y, y

    return jax.lax.scan(euler, 1.0, None, length=int(steps))  # finding


@jax.jit
def final(rate, dt, duration):
    y, trajectory = simulate(rate, dt, duration)
    return y, trajectory.mean()


if __name__ == "__main__":
    print(final(0.5, 0.01, 1.0))
