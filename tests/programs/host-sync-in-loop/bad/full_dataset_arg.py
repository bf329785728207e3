# blind: twenty-first

import jax
import jax.numpy as jnp
import numpy as np
import optax

NUM_ROWS = 50_000
NUM_FEATURES = 1024
BATCH = 64


def load_features(seed=0):
    rng = np.random.default_rng(seed)
    features = np.empty((NUM_ROWS, NUM_FEATURES), np.float32)
    block = rng.standard_normal((5_000, NUM_FEATURES), dtype=np.float32)
    for start in range(0, NUM_ROWS, 5_000):
        features[start:start + 5_000] = block
    targets = features[:, :8].sum(axis=1)
    return features, targets


def predict(params, x):
    return x @ params["w"] + params["b"]


def loss_fn(params, x, y):
    return jnp.mean((predict(params, x) - y) ** 2)


tx = optax.adam(3e-3)


@jax.jit
def train_step(params, opt_state, features, targets, key):
    idx = jax.random.randint(key, (BATCH,), 0, features.shape[0])
    loss, grads = jax.value_and_grad(loss_fn)(params, features[idx], targets[idx])
    updates, opt_state = tx.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


def main():
    images, targets = load_features()  # finding-also
    params = {"w": jnp.zeros((NUM_FEATURES,)), "b": jnp.zeros(())}
    opt_state = tx.init(params)
    key = jax.random.key(0)
    history = []
    for step in range(40):
        key, sub = jax.random.split(key)
        params, opt_state, loss = train_step(params, opt_state, images, targets, sub)  # finding
        history.append(loss)
    history = np.asarray(jnp.stack(history))
    print("first loss", history[0], "last loss", history[-1])


if __name__ == "__main__":
    main()
