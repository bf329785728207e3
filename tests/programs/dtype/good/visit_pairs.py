# blind: twentieth

"""Counts distinct (station, hour-of-week) visits of a bike-sharing system."""
from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

HOURS_PER_WEEK = 7 * 24


@dataclass(frozen=True)
class Network:
    stations: int = 60_000
    bikes: int = 400_000


def load_trips(net, rows=30_000, seed=0):
    """Stations, start times in minutes and 64-bit trip keys, all on the host."""
    rng = np.random.default_rng(seed)
    stations = rng.integers(0, net.stations, rows, dtype=np.int32)
    minutes = rng.integers(0, 52 * HOURS_PER_WEEK * 60, rows, dtype=np.int32)
    bikes = rng.integers(0, net.bikes, rows, dtype=np.int64)
    keys = bikes * net.stations + stations
    _, unique = np.unique(keys, return_index=True)
    return stations[unique], minutes[unique]


def cell_id(stations, minutes):
    hour = (minutes // 60) % HOURS_PER_WEEK
    return stations * HOURS_PER_WEEK + hour


@partial(jax.jit, static_argnames="net")
def visits_per_station(stations, minutes, net):
    ids = jnp.sort(cell_id(stations, minutes))
    first = jnp.concatenate([jnp.ones(1, bool), ids[1:] != ids[:-1]])
    owner = ids // HOURS_PER_WEEK
    return jax.ops.segment_sum(first.astype(jnp.int32), owner, num_segments=net.stations)


@jax.jit
def busiest_hour(minutes):
    hour = (minutes // 60) % HOURS_PER_WEEK
    counts = jnp.bincount(hour, length=HOURS_PER_WEEK)
    return jnp.argmax(counts), counts.max()


def main():
    net = Network()
    stations, minutes = load_trips(net)
    visits = visits_per_station(jnp.asarray(stations), jnp.asarray(minutes), net)
    hour, count = busiest_hour(jnp.asarray(minutes))
    print("distinct cells", int(visits.sum()), "of", len(stations), "trips")
    print("busiest hour of the week", int(hour), "with", int(count))


if __name__ == "__main__":
    main()
