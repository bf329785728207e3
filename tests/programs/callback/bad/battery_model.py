# blind: twentieth

"""Battery discharge simulation with a tabulated open-circuit voltage."""
from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

CHARGE = np.linspace(0.0, 1.0, 21).astype(np.float32)
VOLTAGE = (3.0 + 1.2 * CHARGE - 0.4 * np.exp(-20.0 * CHARGE)).astype(np.float32)


@dataclass(frozen=True)
class Cell:
    capacity: float = 2.5
    resistance: float = 0.05
    polarisation: float = 0.02
    tau: float = 30.0
    dt: float = 1.0


def open_circuit_voltage(charge):
    """Linear interpolation in the manufacturer's table."""
    out = jax.ShapeDtypeStruct(charge.shape, jnp.float32)
    lookup = lambda c: np.interp(c, CHARGE, VOLTAGE).astype(np.float32)  # finding-also
    return jax.pure_callback(lookup, out, charge, vmap_method="expand_dims")  # finding


@partial(jax.jit, static_argnames="cell")
def simulate(current, cell):
    """current: (time, cells) in ampere. Returns terminal voltages and final charge."""

    def body(state, amps):
        charge, drop = state
        decay = jnp.exp(-cell.dt / cell.tau)
        drop = decay * drop + (1.0 - decay) * cell.polarisation * amps
        charge = jnp.clip(charge - amps * cell.dt / (3600.0 * cell.capacity), 0.0, 1.0)
        volts = open_circuit_voltage(charge) - cell.resistance * amps - drop  # finding-also
        return (charge, drop), volts

    cells = current.shape[1]
    init = (jnp.ones(cells), jnp.zeros(cells))
    (charge, _), volts = lax.scan(body, init, current)
    return volts, charge


def drive_cycle(key, seconds=3000, cells=32):
    k_base, k_ripple = jax.random.split(key)
    base = jax.random.uniform(k_base, (cells,), minval=0.5, maxval=2.5)
    ripple = 0.3 * jax.random.normal(k_ripple, (seconds, cells))
    return jnp.maximum(base + ripple, 0.0)


def energy_wh(volts, current, cell):
    return jnp.sum(volts * current, axis=0) * cell.dt / 3600.0


def main(trials=10):
    cell = Cell()
    keys = jax.random.split(jax.random.key(0), trials)
    delivered = []
    for key in keys:
        current = drive_cycle(key)
        volts, charge = simulate(current, cell)
        delivered.append(energy_wh(volts, current, cell).mean())
    print("energy", float(jnp.stack(delivered).mean()), "charge left", float(charge.mean()))


if __name__ == "__main__":
    main()
