# blind: nineteenth

import jax
import jax.numpy as jnp
import optax

VOCAB, DIM = 500, 16


def init_master(key):
    k_e, k_h = jax.random.split(key)
    return {"embed": 0.1 * jax.random.normal(k_e, (VOCAB, DIM)), "head": 0.1 * jax.random.normal(k_h, (DIM, 4))}


def loss_fn(master, tokens, labels, scale):
    half = jax.tree.map(lambda p: p.astype(jnp.float16), master)
    pooled = half["embed"][tokens].mean(axis=1)
    logits = (pooled @ half["head"]).astype(jnp.float32)
    return scale * optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()


tx = optax.adam(1e-2)
SCALE = 128.0


@jax.jit  # finding-other
def train_step(master, opt_state, tokens, labels):
    loss, grads = jax.value_and_grad(loss_fn)(master, tokens, labels, SCALE)
    grads = jax.tree.map(lambda g: g / SCALE, grads)
    updates, opt_state = tx.update(grads, opt_state)
    return optax.apply_updates(master, updates), opt_state, loss / SCALE


def batch(key, n):
    k_l, k_t = jax.random.split(key)
    labels = jax.random.randint(k_l, (n,), 0, 4)
    return labels[:, None] * 125 + jax.random.randint(k_t, (n, 12), 0, 125), labels


def main():
    key, k_init = jax.random.split(jax.random.key(0))
    master = init_master(k_init)
    opt_state = tx.init(master)
    for _ in range(80):
        key, sub = jax.random.split(key)
        master, opt_state, loss = train_step(master, opt_state, *batch(sub, 64))
    print("loss", float(loss), master["embed"].dtype)


if __name__ == "__main__":
    main()
