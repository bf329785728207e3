# blind: seventeenth

"""Train on sentences that are cut and filled up to one length."""
import jax
import jax.numpy as jnp
import numpy as np
import optax

VOCAB, DIM, MAX_LEN = 500, 16, 64
optimizer = optax.adam(1e-2)


def init(key):
    k1, k2 = jax.random.split(key)
    return {
        "emb": 0.1 * jax.random.normal(k1, (VOCAB, DIM)),
        "w": 0.1 * jax.random.normal(k2, (DIM,)),
        "b": jnp.zeros(()),
    }


def loss_fn(params, ids, mask, labels):
    e = params["emb"][ids] * mask[..., None]
    pooled = e.sum(axis=1) / mask.sum(axis=1, keepdims=True)
    logits = pooled @ params["w"] + params["b"]
    return optax.sigmoid_binary_cross_entropy(logits, labels).mean()


@jax.jit  # finding-other
def train_step(params, opt_state, ids, mask, labels):
    loss, grads = jax.value_and_grad(loss_fn)(params, ids, mask, labels)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


def collate(sentences):
    ids = np.zeros((len(sentences), MAX_LEN), np.int32)
    mask = np.zeros((len(sentences), MAX_LEN), np.float32)
    for row, s in enumerate(sentences):
        s = s[:MAX_LEN]
        ids[row, : len(s)] = s
        mask[row, : len(s)] = 1.0
    return ids, mask


def train(data, labels, batch_size=8, epochs=2):
    params = init(jax.random.key(0))
    opt_state = optimizer.init(params)
    rng = np.random.default_rng(0)
    for epoch in range(epochs):
        order = rng.permutation(len(data))
        for i in range(0, len(data) - batch_size + 1, batch_size):
            rows = order[i : i + batch_size]
            ids, mask = collate([data[r] for r in rows])
            params, opt_state, loss = train_step(params, opt_state, ids, mask, labels[rows])
        print(epoch, loss)
    print("programs", train_step._cache_size())
    return params


if __name__ == "__main__":
    rng = np.random.default_rng(1)
    data = [rng.integers(1, VOCAB, size=rng.integers(5, 60)) for _ in range(96)]
    labels = rng.integers(0, 2, size=96).astype(np.float32)
    train(data, labels)
