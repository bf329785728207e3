# source: jax-ml/jax#3186
# blind: nineteenth
# missed: what a scan stores for its gradient

import functools

import jax
import jax.numpy as jnp


def laplacian(u):
    return (
        jnp.roll(u, 1, 0) + jnp.roll(u, -1, 0) + jnp.roll(u, 1, 1) + jnp.roll(u, -1, 1) - 4.0 * u
    )


def absorbing_profile(n, width):
    d = jnp.minimum(jnp.arange(n), n - 1 - jnp.arange(n))
    ramp = jnp.clip(1.0 - d / width, 0.0, 1.0) ** 2
    return jnp.maximum(ramp[:, None], ramp[None, :])


def ricker(t, f0):
    a = (jnp.pi * f0 * (t - 1.0 / f0)) ** 2
    return (1.0 - 2.0 * a) * jnp.exp(-a)


def simulate(log_speed, steps, dt):
    n = log_speed.shape[0]
    damping = absorbing_profile(n, 10)

    def step(fields, t):  # finding-also
        u, u_prev = fields
        speed = jnp.exp(jnp.tanh(log_speed))
        stiff = jnp.sin(speed * laplacian(u)) * jnp.cos(speed * u)
        friction = damping * jnp.tanh(u - u_prev) * jnp.exp(-u * u)
        force = jnp.zeros_like(u).at[n // 2, 5].add(ricker(t, 2.0))
        nxt = 2.0 * u - u_prev + dt * dt * (stiff + force) - dt * friction
        return (nxt, u), nxt[::8, n // 4]

    zeros = jnp.zeros_like(log_speed)
    _, seismogram = jax.lax.scan(step, (zeros, zeros), dt * jnp.arange(steps))  # finding
    return seismogram


@functools.partial(jax.jit, static_argnames=("steps",))
def misfit_and_grad(log_speed, observed, steps):
    def misfit(m):
        return jnp.mean((simulate(m, steps, 0.2) - observed) ** 2)

    return jax.value_and_grad(misfit)(log_speed)  # finding-also


def main():
    n, steps = 96, 120
    x = jnp.linspace(-1.0, 1.0, n)
    bump = 0.3 * jnp.exp(-8.0 * (x[:, None] ** 2 + x[None, :] ** 2))
    observed = simulate(bump, steps, 0.2)
    compiled = misfit_and_grad.lower(jnp.zeros((n, n)), observed, steps=steps).compile()
    print("temporary MiB", compiled.memory_analysis().temp_size_in_bytes / 2 ** 20)
    value, grad = compiled(jnp.zeros((n, n)), observed)
    print("misfit", float(value), "gradient norm", float(jnp.linalg.norm(grad)))


if __name__ == "__main__":
    main()
