# blind: nineteenth

import jax
import jax.numpy as jnp
import numpy as np
import optax

tx = optax.adam(1e-2)


def loader(data, batch, epochs, seed):
    rng = np.random.default_rng(seed)
    n = data.shape[0]
    for _ in range(epochs):
        order = rng.permutation(n)
        for lo in range(0, n - batch + 1, batch):
            clean = data[order[lo : lo + batch]]
            noise = rng.normal(0.0, 0.5, size=clean.shape).astype(np.float32)
            yield clean, clean + noise


@jax.jit  # finding-other
def step(params, opt_state, clean, noisy):
    def loss_fn(p):
        h = jax.nn.relu(noisy @ p["enc"] + p["b"])
        return jnp.mean((h @ p["dec"] - clean) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, opt_state = tx.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


def main():
    rng = np.random.default_rng(1)
    data = (rng.normal(size=(512, 3)) @ rng.normal(size=(3, 20)) / 3 ** 0.5).astype(np.float32)
    k1, k2 = jax.random.split(jax.random.key(0))
    params = {
        "enc": 0.2 * jax.random.normal(k1, (20, 32)),
        "b": jnp.zeros(32),
        "dec": 0.2 * jax.random.normal(k2, (32, 20)),
    }
    opt_state = tx.init(params)
    losses = []
    for clean, noisy in loader(data, 64, 20, 2):
        params, opt_state, loss = step(params, opt_state, clean, noisy)
        losses.append(loss)
    losses = np.asarray(jnp.stack(losses))
    print("loss", losses[0], "->", losses[-10:].mean())


if __name__ == "__main__":
    main()
