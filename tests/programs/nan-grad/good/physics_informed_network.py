# source: jax-ml/jax#15798
# blind: second

import equinox as eqx
import jax
import jax.numpy as jnp
import optax


class Field(eqx.Module):
    layers: tuple
    frequency: jax.Array

    def __init__(self, widths, *, key):
        keys = jax.random.split(key, len(widths))
        pairs = zip(widths[:-1], widths[1:], keys[1:], strict=True)
        self.layers = tuple(eqx.nn.Linear(n, m, key=k) for n, m, k in pairs)
        self.frequency = jax.random.normal(keys[0], (widths[0] // 2, 2))

    def __call__(self, x, t):
        phase = self.frequency @ jnp.stack([x, t])
        h = jnp.concatenate([jnp.sin(phase), jnp.cos(phase)])
        for layer in self.layers[:-1]:
            h = jnp.tanh(layer(h))
        return self.layers[-1](h)[0]


def residual(field, x, t, viscosity):
    u = field(x, t)
    u_x = jax.grad(field, argnums=0)(x, t)
    u_t = jax.grad(field, argnums=1)(x, t)
    u_xx = jax.grad(jax.grad(field, argnums=0), argnums=0)(x, t)
    return u_t + u * u_x - viscosity * u_xx


def loss_fn(field, interior, boundary, viscosity):
    xs, ts = interior
    physics = jax.vmap(residual, in_axes=(None, 0, 0, None))(field, xs, ts, viscosity)
    start = jax.vmap(field, in_axes=(0, None))(boundary, 0.0) + jnp.sin(jnp.pi * boundary)
    scale = jnp.sqrt(jnp.mean(physics**2) + 1e-12)
    return scale + jnp.mean(start**2)


@eqx.filter_jit
def train(field, key, tx, steps):
    params, static = eqx.partition(field, eqx.is_inexact_array)

    def step(carry, key):
        params, state = carry
        kx, kt, kb = jax.random.split(key, 3)
        interior = jax.random.uniform(kx, (32,), minval=-1.0), jax.random.uniform(kt, (32,))
        boundary = jax.random.uniform(kb, (16,), minval=-1.0)

        def loss(params):
            return loss_fn(eqx.combine(params, static), interior, boundary, 0.01)

        value, grads = jax.value_and_grad(loss)(params)
        updates, state = tx.update(grads, state, params)
        return (optax.apply_updates(params, updates), state), value

    carry, losses = jax.lax.scan(step, (params, tx.init(params)), jax.random.split(key, steps))
    return eqx.combine(carry[0], static), losses


if __name__ == "__main__":
    field_key, train_key = jax.random.split(jax.random.key(0))
    field, losses = train(Field((8, 16, 16, 1), key=field_key), train_key, optax.adam(1e-3), 5)
    assert bool(jnp.all(jnp.isfinite(losses)))
