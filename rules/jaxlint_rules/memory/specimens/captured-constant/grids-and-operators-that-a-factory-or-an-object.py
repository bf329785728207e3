# grids and operators that a factory or an object holds

import jax
import jax.numpy as jnp

def build_laplacian(n):
    rows = jnp.concatenate([jnp.arange(n - 1), jnp.arange(1, n)])
    weights = jnp.full(rows.shape, -1.0)

    def matvec(v):
        return 2.0 * v + weights.sum() * v[rows[::2]]  # finding

    return matvec

def build_stencil(n):
    weights = jnp.ones((n, n))
    return lambda v: weights @ v

class Pupil:
    def __init__(self, n):
        x, y = jnp.meshgrid(jnp.linspace(-1, 1, n), jnp.linspace(-1, 1, n))
        self.masks = {"inside": x**2 + y**2 < 1, "tilt": x}
        self.gains = {"inside": jnp.ones(3)}

    @property
    def inside(self):
        return self.masks["inside"]

    def __call__(self, field):
        return field * self.masks["tilt"]

    def weighted(self, field):
        return field.sum() * self.masks["tilt"]  # finding

    def images(self, fields):
        seen = jax.jit(lambda field: jnp.abs(field * self.inside))  # finding
        scaled = jax.jit(lambda field: field * self.gains["inside"][0])
        return [seen(field) + scaled(field) for field in fields]

class Gram:
    def __init__(self, points, few):
        self.gram = jnp.exp(-((points[:, None] - points[None]) ** 2).sum(-1)) + 0.1 * jnp.eye(len(points))
        self.few = jnp.exp(-((few[:, None] - few[None]) ** 2).sum(-1)) + 0.1 * jnp.eye(len(few))
        self.solve = jax.jit(self._solve)
        self.solve_few = jax.jit(self._solve_few)

    def _solve(self, targets):
        return jnp.linalg.solve(self.gram, targets)  # finding

    def _solve_few(self, targets):
        return jnp.linalg.solve(self.few, targets)

gram = Gram(jnp.ones((1000, 2)), jnp.ones((10, 2)))

class Propagator:
    def __init__(self, n, distance):
        f = jnp.fft.fftfreq(n)
        fx, fy = jnp.meshgrid(f, f)
        self.transfer = jnp.exp(1j * distance * jnp.sqrt(1.0 - fx**2 - fy**2))
        self.half = jnp.fft.rfftfreq(n)
        self.forward = jax.jit(self._forward)
        self.filtered = jax.jit(self._filtered)

    def _forward(self, field):
        return jnp.fft.ifft2(jnp.fft.fft2(field) * self.transfer)  # finding

    def _filtered(self, signal):
        return jnp.fft.rfft(signal) * self.half

def smooth(n=1_000_000):
    apply, pupil, stencil = build_laplacian(n), Pupil(512), build_stencil(8)

    @jax.jit
    def step(v):
        return v + 0.1 * apply(v) + stencil(v[:8]).sum()

    tilted = jax.jit(lambda field: pupil(field).sum())  # finding
    kept = jax.jit(pupil.weighted)
    return step(jnp.ones(n)), tilted(jnp.ones((512, 512))), kept(jnp.ones(3)), pupil.images([jnp.ones((512, 512))])

print(smooth(), Propagator(512, 3.0).forward(jnp.ones((512, 512))))
