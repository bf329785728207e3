# source: patrick-kidger/equinox#686
# blind: sixteenth

"""Fit one small trajectory model for each recorded subject, equinox."""

from typing import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax


def forward_kinematics(angles):
    a, b, c = angles[0], angles[1], angles[2]
    x = jnp.cos(a) + jnp.cos(a + b) + 0.5 * jnp.cos(a + b + c)
    y = jnp.sin(a) + jnp.sin(a + b) + 0.5 * jnp.sin(a + b + c)
    return jnp.stack([x, y])


class Trajectory(eqx.Module):
    net: eqx.nn.MLP
    scale: jax.Array
    forward: Callable

    def __init__(self, fk, key):
        self.net = eqx.nn.MLP(1, 3, width_size=16, depth=2, key=key)
        self.scale = jnp.ones((3,))
        self.forward = jax.jit(lambda q: fk(q))  # finding-also

    def __call__(self, t):
        return self.forward(self.net(t) * self.scale)


def loss(model, t, xy):
    return jnp.mean((jax.vmap(model)(t) - xy) ** 2)


optim = optax.adam(1e-2)


@eqx.filter_jit
def step(model, opt_state, t, xy):  # finding-also
    value, grads = eqx.filter_value_and_grad(loss)(model, t, xy)
    updates, opt_state = optim.update(grads, opt_state, eqx.filter(model, eqx.is_array))
    return eqx.apply_updates(model, updates), opt_state, value


def fit_subject(key, t, xy, steps=100):
    model = Trajectory(forward_kinematics, key)
    opt_state = optim.init(eqx.filter(model, eqx.is_array))
    for _ in range(steps):
        model, opt_state, value = step(model, opt_state, t, xy)  # finding
    return model, value


def load_subjects(n=20):
    rng = np.random.default_rng(0)
    for i in range(n):
        t = np.linspace(0, 1, 64, dtype=np.float32)[:, None]
        xy = np.concatenate([np.cos(t * (1 + i)), np.sin(t * (1 + i))], axis=1)
        yield t, (xy + 0.01 * rng.normal(size=xy.shape)).astype(np.float32)


def main():
    key = jax.random.PRNGKey(0)
    errors = []
    for t, xy in load_subjects(4):
        key, sub = jax.random.split(key)
        _, value = fit_subject(sub, t, xy)
        errors.append(value)
    print(np.mean([float(e) for e in errors]))


if __name__ == "__main__":
    main()
