# dates of the host that float32 cannot tell apart; the same after a subtraction, near zero, or far apart
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np


@dataclass
class Survey:
    start: float = 2_459_000.5
    cadence: float = 2.0


def julian(survey):
    return survey.start + np.arange(0.0, 30.0, survey.cadence / 1440)


def stamps(count):
    rng = np.random.default_rng(0)
    return 1_700_000_000.0 + np.cumsum(rng.exponential(0.25, count))


@jax.jit
def folded(time, period):
    return (time % period) / period


@jax.jit
def gaps(time):
    return jnp.diff(time)


def of_dates(survey):
    return jnp.asarray(julian(survey))  # finding


def of_stamps():
    return gaps(stamps(100))  # finding


def of_places():
    easting = np.random.default_rng(1).normal(6_500_000.0, 0.01, 40)
    return jnp.array(easting)  # finding


def of_a_list():
    return jnp.array([1_700_000_000.0, 1_700_000_000.5])  # finding


def from_the_first():
    time = stamps(100)
    return gaps(time - time[0])


def from_the_start(survey):
    time = julian(survey)
    return jnp.asarray(time - survey.start, jnp.float32)


def days():
    return jnp.asarray(2_459_000.5 + np.arange(0.0, 3000.0))


def small():
    return jnp.asarray(1.0 + np.linspace(0.0, 1e-3, 100)), jnp.array([0.0, 1e-30, 1e9])


def coordinates(rng):
    return jnp.asarray(rng.normal(500_000.0, 250.0, size=(40, 2)))


def on_the_host():
    return np.diff(stamps(100)), np.asarray(julian(Survey()))


def main():
    survey = Survey()
    of_dates(survey), of_stamps(), of_places(), of_a_list(), from_the_first(), from_the_start(survey)
    days(), small(), coordinates(np.random.default_rng(2)), on_the_host()
    print(folded(jnp.arange(3.0), 0.9))


main()
