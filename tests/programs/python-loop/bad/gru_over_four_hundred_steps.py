# blind: seventeenth

"""Encode long sensor sequences by a GRU that is written by hand."""
import jax
import jax.numpy as jnp
import optax

DIM, HIDDEN, STEPS = 6, 64, 400
optimizer = optax.adam(1e-3)


def init(key):
    k1, k2, k3 = jax.random.split(key, 3)
    return {
        "wx": jax.random.normal(k1, (DIM, 3 * HIDDEN)) * 0.1,
        "wh": jax.random.normal(k2, (HIDDEN, 3 * HIDDEN)) * 0.1,
        "out": jax.random.normal(k3, (HIDDEN, 1)) * 0.1,
    }


def gru_cell(params, h, x):
    gx = jnp.split(x @ params["wx"], 3, axis=-1)
    gh = jnp.split(h @ params["wh"], 3, axis=-1)
    z = jax.nn.sigmoid(gx[0] + gh[0])
    r = jax.nn.sigmoid(gx[1] + gh[1])
    n = jnp.tanh(gx[2] + r * gh[2])
    return (1 - z) * n + z * h


def encode(params, seq):
    h = jnp.zeros((seq.shape[0], HIDDEN))
    for t in range(seq.shape[1]):  # finding
        h = gru_cell(params, h, seq[:, t])
    return h @ params["out"]


@jax.jit
def train_step(params, opt_state, seq, target):
    def loss_fn(p):
        return jnp.mean((encode(p, seq) - target) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


def load_batches(key, count, batch=16):
    for _ in range(count):
        key, k = jax.random.split(key)
        seq = jax.random.normal(k, (batch, STEPS, DIM))
        yield seq, seq.mean(axis=(1, 2))[:, None]


def main():
    params = init(jax.random.key(0))
    opt_state = optimizer.init(params)
    for seq, target in load_batches(jax.random.key(1), 3):
        params, opt_state, loss = train_step(params, opt_state, seq, target)
    print(loss)


if __name__ == "__main__":
    main()
