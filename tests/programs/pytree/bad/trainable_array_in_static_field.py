# source: patrick-kidger/equinox#798
# blind: eighteenth

import equinox as eqx
import jax
import jax.numpy as jnp
import optax


class FourierFeatures(eqx.Module):
    freqs: jax.Array = eqx.field(static=True)  # finding
    readout: eqx.nn.Linear

    def __init__(self, d_in, n_freq, *, key):
        k1, k2 = jax.random.split(key)
        self.freqs = jax.random.normal(k1, (n_freq, d_in))  # finding-also
        self.readout = eqx.nn.Linear(2 * n_freq, 1, key=k2)

    def __call__(self, x):
        phase = self.freqs @ x
        feats = jnp.concatenate([jnp.sin(phase), jnp.cos(phase)])
        return self.readout(feats)[0]


def loss_fn(model, x, y):
    return jnp.mean((jax.vmap(model)(x) - y) ** 2)


@eqx.filter_jit(donate="all-except-first")
def make_step(batch, model, opt_state, tx):
    x, y = batch
    loss, grads = eqx.filter_value_and_grad(loss_fn)(model, x, y)
    updates, opt_state = tx.update(grads, opt_state, eqx.filter(model, eqx.is_array))
    return eqx.apply_updates(model, updates), opt_state, loss


def main():
    model = FourierFeatures(2, 16, key=jax.random.key(0))
    tx = optax.adam(1e-2)
    opt_state = tx.init(eqx.filter(model, eqx.is_array))
    x = jax.random.normal(jax.random.key(1), (32, 2))
    before = model.freqs
    model, opt_state, loss = make_step((x, x[:, 0]), model, opt_state, tx)
    print(loss, "frequencies moved:", bool(jnp.any(model.freqs != before)))


if __name__ == "__main__":
    main()
