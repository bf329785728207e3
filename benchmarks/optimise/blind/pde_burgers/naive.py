"""Viscous Burgers in two dimensions: upwind stencils, a step chosen by CFL, frames kept for a plot."""

import jax.numpy as jnp
import numpy as np

N = 96
NU = 0.01
DX = 2.0 / (N - 1)
CFL = 0.4


def initial_fields():
    x = jnp.linspace(0.0, 2.0, N)
    X, Y = jnp.meshgrid(x, x, indexing="ij")
    bump = jnp.exp(-20.0 * ((X - 0.7) ** 2 + (Y - 0.8) ** 2))
    u = 1.0 + bump
    v = 0.5 + 0.5 * jnp.sin(jnp.pi * X) * bump
    return u, v


def ddx_upwind(f, speed):
    backward = (f - jnp.roll(f, 1, axis=0)) / DX
    forward = (jnp.roll(f, -1, axis=0) - f) / DX
    return jnp.where(speed > 0, backward, forward)


def ddy_upwind(f, speed):
    backward = (f - jnp.roll(f, 1, axis=1)) / DX
    forward = (jnp.roll(f, -1, axis=1) - f) / DX
    return jnp.where(speed > 0, backward, forward)


def laplacian(f):
    inner = (f[2:, 1:-1] + f[:-2, 1:-1] + f[1:-1, 2:] + f[1:-1, :-2] - 4.0 * f[1:-1, 1:-1]) / DX**2
    return jnp.zeros_like(f).at[1:-1, 1:-1].set(inner)


def boundary(f, value):
    f = f.at[0, :].set(value)
    f = f.at[-1, :].set(value)
    f = f.at[:, 0].set(value)
    f = f.at[:, -1].set(value)
    return f


def stable_dt(u, v):
    fastest = jnp.max(jnp.abs(u)) + jnp.max(jnp.abs(v))
    return min(CFL * DX / float(fastest), 0.2 * DX**2 / NU)


def rhs(u, v):
    du = -u * ddx_upwind(u, u) - v * ddy_upwind(u, v) + NU * laplacian(u)
    dv = -u * ddx_upwind(v, u) - v * ddy_upwind(v, v) + NU * laplacian(v)
    return du, dv


def heun_step(u, v, dt):
    du1, dv1 = rhs(u, v)
    u1 = boundary(u + dt * du1, 1.0)
    v1 = boundary(v + dt * dv1, 0.5)
    du2, dv2 = rhs(u1, v1)
    u = boundary(u + 0.5 * dt * (du1 + du2), 1.0)
    v = boundary(v + 0.5 * dt * (dv1 + dv2), 0.5)
    return u, v


def diagnostics(u, v):
    energy = 0.5 * jnp.sum(u**2 + v**2) * DX**2
    dudy = (jnp.roll(u, -1, axis=1) - jnp.roll(u, 1, axis=1)) / (2 * DX)
    dvdx = (jnp.roll(v, -1, axis=0) - jnp.roll(v, 1, axis=0)) / (2 * DX)
    enstrophy = jnp.mean((dvdx - dudy)[1:-1, 1:-1] ** 2)
    return float(energy), float(enstrophy)


def simulate(t_end, frame_every):
    u, v = initial_fields()
    t, step = 0.0, 0
    frames, energies = [], []
    while t < t_end:
        dt = min(stable_dt(u, v), t_end - t)
        u, v = heun_step(u, v, dt)
        t += dt
        step += 1
        energy, enstrophy = diagnostics(u, v)
        energies.append(energy)
        if step % frame_every == 0:
            frames.append(np.asarray(u))
            print(f"step {step} t={t:.4f} dt={dt:.5f} energy {energy:.4f} enstrophy {enstrophy:.4f}")
    return u, v, np.stack(frames), energies


def main():
    u, v, frames, energies = simulate(0.6, 40)
    print(f"frames {frames.shape} lost {energies[0] - energies[-1]:.4f}")
    print(f"peak u {float(u.max()):.4f} mean v {float(v.mean()):.4f}")


if __name__ == "__main__":
    main()
