# source: jax-ml/jax#5492

import functools

import jax
import jax.numpy as jnp


class SpectralGrid:
    def __init__(self, n, length):
        self.n = n
        self.length = length

    @functools.cached_property  # finding-also
    def wavenumbers(self):
        return 2 * jnp.pi * jnp.fft.fftfreq(self.n, self.length / self.n)  # finding


class Solver:
    def __init__(self, grid):
        self.grid = grid

    def derivative(self, u):
        return jnp.fft.ifft(1j * self.grid.wavenumbers * jnp.fft.fft(u)).real

    def rhs(self, u):
        return -u * self.derivative(u)


grid = SpectralGrid(32, 2 * jnp.pi)
solver = Solver(grid)
x = jnp.arange(32) * grid.length / 32
step = jax.jit(lambda u: u + 0.01 * solver.rhs(u))
u = step(jnp.sin(x))
print(solver.derivative(u)[:3])
