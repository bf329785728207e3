# flags: --horizon 60
# flags: --sensors 2
"""A pendulum under control; the controls and the pushes may be of different length, the shorter ends it."""

import argparse

import jax
import jax.numpy as jnp
import numpy as np


def swing(state, torque, push, dt=0.02):
    angle, speed = state[..., 0], state[..., 1]
    speed = speed + dt * (-9.8 * jnp.sin(angle) - 0.1 * speed + torque + push)
    return jnp.stack([angle + dt * speed, speed], axis=-1)


def rollout(state, torques, pushes):
    cost = 0.0
    for torque, push in zip(torques, pushes):
        state = swing(state, torque, push)
        cost = cost + jnp.sum(state**2) * 0.02
    return state, cost


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--horizon", type=int, default=100)
    ap.add_argument("--sensors", type=int, default=1)
    args = ap.parse_args()
    torques = jnp.sin(jnp.arange(args.horizon) * 0.1)
    for seed in range(4):
        pushes = 0.3 * jax.random.normal(jax.random.key(seed), (100,))
        start = (
            jnp.array([0.5, 0.0]) if args.sensors == 1 else jnp.tile(jnp.array([0.5, 0.0]), (args.sensors, 1))
        )
        state, cost = rollout(start, torques, pushes)
        print(seed, np.asarray(state).round(3).tolist(), f"{float(cost):.4f}")


if __name__ == "__main__":
    main()
