# source: jax-ml/jax#25842
# blind: nineteenth

import functools
import time

import jax
import jax.numpy as jnp

seen = {"max_speed": 0.0}


def track(step, speed):
    seen["max_speed"] = max(seen["max_speed"], float(speed))
    if step % 2000 == 0:
        print("step", int(step), "max speed so far", round(seen["max_speed"], 2))


def lorenz(state, sigma=10.0, rho=28.0, beta=8.0 / 3.0):
    x, y, z = state
    return jnp.stack([sigma * (y - x), x * (rho - z) - y, x * y - beta * z])


def rk4(state, dt):
    k1 = lorenz(state)
    k2 = lorenz(state + 0.5 * dt * k1)
    k3 = lorenz(state + 0.5 * dt * k2)
    k4 = lorenz(state + dt * k3)
    return state + dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)


@functools.partial(jax.jit, static_argnames=("steps",))
def lyapunov_exponent(state, perturbation, dt, steps):
    size = jnp.linalg.norm(perturbation)

    def body(carry, i):
        ref, other, total = carry
        ref, other = rk4(ref, dt), rk4(other, dt)
        gap = other - ref
        dist = jnp.linalg.norm(gap)
        other = ref + gap * (size / dist)
        jax.debug.callback(track, i, jnp.linalg.norm(lorenz(ref)))  # finding
        return (ref, other, total + jnp.log(dist / size)), None

    init = (state, state + perturbation, jnp.float32(0.0))
    (ref, _, total), _ = jax.lax.scan(body, init, jnp.arange(steps))
    return ref, total / (steps * dt)


def main():
    state = jnp.array([1.0, 1.0, 1.05])
    perturbation = jnp.array([1e-2, 0.0, 0.0])
    lyapunov_exponent(state, perturbation, 0.01, 4_000)[1].block_until_ready()
    start = time.perf_counter()
    ref, exponent = lyapunov_exponent(state, perturbation, 0.01, 4_000)
    exponent.block_until_ready()
    print("exponent", float(exponent), "seconds", round(time.perf_counter() - start, 3))


if __name__ == "__main__":
    main()
