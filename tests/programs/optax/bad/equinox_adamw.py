# source: patrick-kidger/equinox#607
# blind: nineteenth

import jax
import jax.numpy as jnp
import equinox as eqx
import optax


class SirenLayer(eqx.Module):
    weight: jax.Array
    bias: jax.Array
    omega: float = eqx.field(static=True)

    def __init__(self, fan_in, fan_out, omega, key, first=False):
        bound = 1.0 / fan_in if first else (6.0 / fan_in) ** 0.5 / omega
        k1, k2 = jax.random.split(key)
        self.weight = jax.random.uniform(k1, (fan_out, fan_in), minval=-bound, maxval=bound)
        self.bias = jax.random.uniform(k2, (fan_out,), minval=-bound, maxval=bound)
        self.omega = omega

    def __call__(self, x):
        return jnp.sin(self.omega * (self.weight @ x + self.bias))


class Siren(eqx.Module):
    layers: list
    readout: eqx.nn.Linear

    def __init__(self, key, width=64, depth=2):
        keys = jax.random.split(key, depth + 1)
        sizes = [2] + [width] * depth
        self.layers = [
            SirenLayer(a, b, 15.0, k, first=i == 0)
            for i, (a, b, k) in enumerate(zip(sizes[:-1], sizes[1:], keys))
        ]
        self.readout = eqx.nn.Linear(width, 1, key=keys[-1])

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.readout(x)[0]


optim = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(1e-3, weight_decay=1e-4))  # finding-also


@eqx.filter_jit
def make_step(model, opt_state, coords, target):
    @eqx.filter_value_and_grad
    def loss_fn(m):
        return jnp.mean((jax.vmap(m)(coords) - target) ** 2)

    loss, grads = loss_fn(model)
    updates, opt_state = optim.update(grads, opt_state)  # finding
    return eqx.apply_updates(model, updates), opt_state, loss


def main():
    grid = jnp.linspace(-1.0, 1.0, 32)
    coords = jnp.stack(jnp.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
    target = jnp.sin(6.0 * coords[:, 0]) * jnp.cos(4.0 * coords[:, 1])
    model = Siren(jax.random.key(0))
    opt_state = optim.init(eqx.filter(model, eqx.is_array))
    for step in range(100):
        model, opt_state, loss = make_step(model, opt_state, coords, target)
    print("loss", float(loss))


if __name__ == "__main__":
    main()
