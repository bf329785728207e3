# blind: twentieth

"""Box search for planetary transits in a light curve."""
from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np


@dataclass(frozen=True)
class Survey:
    start: float = 2_459_000.5  # finding-also
    days: float = 27.0
    cadence_minutes: float = 2.0


@dataclass(frozen=True)
class Planet:
    period: float = 0.9
    epoch: float = 2_459_000.83
    duration: float = 0.05
    depth: float = 0.01


def observe(survey, planet, seed=0):
    """Returns barycentric Julian dates and normalised flux."""
    rng = np.random.default_rng(seed)
    time = survey.start + np.arange(0.0, survey.days, survey.cadence_minutes / 1440.0)
    phase = (time - planet.epoch + 0.5 * planet.period) % planet.period - 0.5 * planet.period
    flux = 1.0 - planet.depth * (np.abs(phase) < 0.5 * planet.duration)
    return time, flux + 5e-4 * rng.standard_normal(time.shape)  # finding-also


@jax.jit
def box_score(time, flux, period, epoch, duration):
    """Signal to noise of the mean drop inside a folded box."""
    phase = (time - epoch + 0.5 * period) % period - 0.5 * period  # finding-also
    inside = jnp.abs(phase) < 0.5 * duration
    count = jnp.maximum(inside.sum(), 1)
    drop = jnp.sum(jnp.where(inside, 1.0 - flux, 0.0)) / count
    return drop * jnp.sqrt(count) / flux.std()


@partial(jax.jit, static_argnames="grid")
def search(time, flux, period, duration, grid=300):
    offsets = jnp.linspace(0.0, 1.0, grid, endpoint=False) * period
    epochs = time[0] + offsets  # finding-also
    score = jax.vmap(box_score, in_axes=(None, None, None, 0, None))(
        time, flux, period, epochs, duration
    )
    best = jnp.argmax(score)
    return offsets[best], score[best]


def main():
    survey, planet = Survey(), Planet()
    time, flux = observe(survey, planet)
    time, flux = jnp.asarray(time), jnp.asarray(flux)  # finding
    offset, score = search(time, flux, planet.period, planet.duration)
    print("epoch offset", float(offset), "expected", planet.epoch - survey.start)
    print("score", float(score))


if __name__ == "__main__":
    main()
