# blind: twentieth

"""Gated product with a hand-written derivative for a bilinear model."""
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax

LIMIT = 5.0


@jax.custom_vjp
def gated(signal, gate):
    """signal * sigmoid(gate), with bounded cotangents."""
    return signal * jax.nn.sigmoid(gate)


def gated_fwd(signal, gate):
    s = jax.nn.sigmoid(gate)
    return signal * s, (signal, s)


def gated_bwd(residuals, ct):  # finding-also
    signal, s = residuals
    ct = jnp.clip(ct, -LIMIT, LIMIT)
    d_gate = ct * signal * s * (1.0 - s)
    d_signal = ct * s
    return d_gate, d_signal  # finding


gated.defvjp(gated_fwd, gated_bwd)  # finding-also


def init_params(key, features, hidden):
    k_signal, k_gate, k_out = jax.random.split(key, 3)
    scale = features**-0.5
    return {
        "signal": scale * jax.random.normal(k_signal, (features, hidden)),
        "gate": scale * jax.random.normal(k_gate, (features, hidden)),
        "out": hidden**-0.5 * jax.random.normal(k_out, (hidden,)),
    }


def predict(params, x):
    return gated(x @ params["signal"], x @ params["gate"]) @ params["out"]


def loss_fn(params, x, y):
    return jnp.mean((predict(params, x) - y) ** 2)


def make_step(tx):
    @partial(jax.jit, donate_argnums=(0, 1))
    def step(params, opt_state, x, y):
        loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
        updates, opt_state = tx.update(grads, opt_state)
        return optax.apply_updates(params, updates), opt_state, loss

    return step


def main(steps=500, batch=128):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((2048, 6)).astype(np.float32)
    y = x[:, 0] / (1.0 + np.exp(-3.0 * x[:, 1])) - x[:, 2]
    params = init_params(jax.random.key(0), 6, 32)
    tx = optax.adam(1e-2)
    opt_state = tx.init(params)
    step = make_step(tx)
    losses = []
    for _ in range(steps):
        rows = rng.choice(len(x), batch, replace=False)
        params, opt_state, loss = step(params, opt_state, x[rows], y[rows])
        losses.append(loss)
    print("first", float(losses[0]), "last", float(jnp.stack(losses)[-20:].mean()))


if __name__ == "__main__":
    main()
