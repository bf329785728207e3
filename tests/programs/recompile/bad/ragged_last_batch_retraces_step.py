# source: patrick-kidger/diffrax#111
# blind: eighteenth
# missed: the length of the last slice

import functools

import jax
import jax.numpy as jnp
import numpy as np
import optax


def dataloader(arrays, batch_size, rng):
    n = arrays[0].shape[0]
    perm = rng.permutation(n)
    for start in range(0, n, batch_size):  # finding-also
        idx = perm[start : start + batch_size]  # finding
        yield tuple(a[idx] for a in arrays)


def predict(params, x):
    h = jnp.tanh(x @ params["w1"] + params["b1"])
    return (h @ params["w2"])[:, 0]


def loss_fn(params, x, y):
    return jnp.mean((predict(params, x) - y) ** 2)


tx = optax.adam(1e-3)


@functools.partial(jax.jit, donate_argnums=(0, 1))
def make_step(params, opt_state, x, y):
    grads = jax.grad(loss_fn)(params, x, y)
    updates, opt_state = tx.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state


def main(epochs=2, batch_size=32):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(100, 3)).astype(np.float32)
    y = x[:, 0] - 0.5 * x[:, 1]
    k1, k2 = jax.random.split(jax.random.key(0))
    params = {"w1": jax.random.normal(k1, (3, 16)), "b1": jnp.zeros(16), "w2": jax.random.normal(k2, (16, 1))}
    opt_state = tx.init(params)
    for _ in range(epochs):
        for xb, yb in dataloader((x, y), batch_size, rng):  # finding-also
            params, opt_state = make_step(params, opt_state, xb, yb)  # finding-also
    print(loss_fn(params, x, y))


if __name__ == "__main__":
    main()
