# source: google-deepmind/optax#1754
# blind: nineteenth

import jax
import jax.numpy as jnp
import optax

VOCAB, DIM, CLASSES = 2000, 32, 4


def init_params(key):
    k_emb, k_head = jax.random.split(key)
    return {
        "embed": (0.1 * jax.random.normal(k_emb, (VOCAB, DIM))).astype(jnp.float16),  # finding-also
        "head": (0.1 * jax.random.normal(k_head, (DIM, CLASSES))).astype(jnp.float16),  # finding-also
    }


def logits_fn(params, tokens):
    pooled = params["embed"][tokens].mean(axis=1)
    return (pooled @ params["head"]).astype(jnp.float32)


def loss_fn(params, tokens, labels):
    logits = logits_fn(params, tokens)
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()


optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(1e-3))  # finding


@jax.jit
def train_step(params, opt_state, tokens, labels):
    loss, grads = jax.value_and_grad(loss_fn)(params, tokens, labels)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


def topic_batch(key, n):
    k_label, k_tok = jax.random.split(key)
    labels = jax.random.randint(k_label, (n,), 0, CLASSES)
    offsets = labels[:, None] * (VOCAB // CLASSES)
    tokens = offsets + jax.random.randint(k_tok, (n, 16), 0, VOCAB // CLASSES)
    return tokens, labels


def main():
    key = jax.random.key(0)
    key, k_init = jax.random.split(key)
    params = init_params(k_init)
    opt_state = optimizer.init(params)
    for step in range(6):
        key, k_batch = jax.random.split(key)
        tokens, labels = topic_batch(k_batch, 64)
        params, opt_state, loss = train_step(params, opt_state, tokens, labels)
        print("step", step, "loss", float(loss))


if __name__ == "__main__":
    main()
