# blind: nineteenth

from dataclasses import dataclass, replace

import jax
import jax.numpy as jnp


@jax.tree_util.register_dataclass
@dataclass
class Oscillators:
    phase: jax.Array
    rate: jax.Array
    time: jax.Array


def coupling_force(phase, strength):
    return strength * jnp.mean(jnp.sin(phase[None, :] - phase[:, None]), axis=1)


@jax.jit
def advance(state, dt, strength):
    def step(s, _):
        k1 = s.rate + coupling_force(s.phase, strength)
        k2 = s.rate + coupling_force(s.phase + 0.5 * dt * k1, strength)
        s = replace(s, phase=s.phase + dt * k2, time=s.time + dt)
        return s, jnp.abs(jnp.mean(jnp.exp(1j * s.phase)))

    return jax.lax.scan(step, state, None, length=400)


def main():
    k_p, k_r = jax.random.split(jax.random.key(0))
    state = Oscillators(
        jax.random.uniform(k_p, (64,), maxval=2.0 * jnp.pi),
        0.2 * jax.random.normal(k_r, (64,)),
        jnp.float32(0.0),
    )
    for strength in (0.1, 2.0):
        final, order = advance(state, 0.05, strength)
        print("strength", strength, "order parameter", float(order[-50:].mean()), "time", float(final.time))


if __name__ == "__main__":
    main()
