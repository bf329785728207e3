# blind: seventeenth

"""Train a small energy model; forces are checked before they are used."""
import equinox as eqx
import jax
import jax.numpy as jnp
import optax


class EnergyModel(eqx.Module):
    mlp: eqx.nn.MLP
    cutoff: float = eqx.field(static=True)

    def __init__(self, key, cutoff=3.0):
        self.mlp = eqx.nn.MLP(1, 1, 32, 2, activation=jax.nn.silu, key=key)
        self.cutoff = cutoff

    def energy(self, pos):
        i, j = jnp.triu_indices(pos.shape[0], k=1)
        sq = jnp.sum((pos[i] - pos[j]) ** 2, axis=-1)
        e = jax.vmap(self.mlp)(sq[:, None])[:, 0]
        return jnp.sum(jnp.where(sq < self.cutoff**2, e, 0.0))

    def forces(self, pos):
        f = -jax.grad(self.energy)(pos)
        return self._checked(f)

    def _checked(self, f):
        largest = jnp.max(jnp.abs(f))
        if largest > 1e3:  # finding
            raise ValueError("force is too large")
        return f


def loss_fn(model, pos, target):
    pred = jax.vmap(model.forces)(pos)
    return jnp.mean((pred - target) ** 2)


@eqx.filter_jit
def train_step(model, opt_state, pos, target, optim):
    loss, grads = eqx.filter_value_and_grad(loss_fn)(model, pos, target)
    updates, opt_state = optim.update(grads, opt_state)
    return eqx.apply_updates(model, updates), opt_state, loss


def main():
    model = EnergyModel(jax.random.key(0))
    optim = optax.adam(1e-3)
    opt_state = optim.init(eqx.filter(model, eqx.is_array))
    pos = jax.random.normal(jax.random.key(1), (8, 5, 3))
    target = jnp.zeros_like(pos)
    for _ in range(10):
        model, opt_state, loss = train_step(model, opt_state, pos, target, optim)
    print("loss", loss)


if __name__ == "__main__":
    main()
