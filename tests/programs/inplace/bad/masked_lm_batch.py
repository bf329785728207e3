# blind: twenty-first

import jax
import jax.numpy as jnp
import numpy as np
import optax

VOCAB = 50
MASK = 50
SEQ = 12


def mask_batch(key, tokens, per_row=2):
    b = tokens.shape[0]
    cols = jax.vmap(lambda k: jax.random.permutation(k, SEQ)[:per_row])(
        jax.random.split(key, b))
    rows = jnp.arange(b)[:, None]
    inputs = tokens
    inputs.at[rows, cols].set(MASK)  # finding
    weights = jnp.zeros(tokens.shape).at[rows, cols].set(1.0)
    return inputs, tokens, weights


def init(key, dim=32):
    k1, k2, k3 = jax.random.split(key, 3)
    return {
        "embed": 0.1 * jax.random.normal(k1, (VOCAB + 1, dim)),
        "mix": 0.1 * jax.random.normal(k2, (SEQ, SEQ)),
        "out": 0.1 * jax.random.normal(k3, (dim, VOCAB)),
    }


def loss_fn(params, inputs, labels, weights):
    h = params["embed"][inputs]
    h = h + jnp.einsum("st,btd->bsd", params["mix"], h)
    ce = optax.softmax_cross_entropy_with_integer_labels(h @ params["out"], labels)
    return jnp.sum(ce * weights) / jnp.sum(weights)


def main():
    tx = optax.adam(3e-2)
    params = init(jax.random.key(0))
    opt_state = tx.init(params)

    @jax.jit
    def step(params, opt_state, key, tokens):
        batch = mask_batch(key, tokens)
        loss, grads = jax.value_and_grad(loss_fn)(params, *batch)
        updates, opt_state = tx.update(grads, opt_state)
        return optax.apply_updates(params, updates), opt_state, loss, batch[0]

    rng = np.random.default_rng(0)
    key = jax.random.key(1)
    for _ in range(150):
        key, sub = jax.random.split(key)
        tokens = jnp.asarray(rng.integers(0, VOCAB, size=(32, SEQ)))
        params, opt_state, loss, inputs = step(params, opt_state, sub, tokens)
    print("loss", float(loss), "chance", float(np.log(VOCAB)))
    print("masked tokens in the last batch", int((inputs == MASK).sum()))


if __name__ == "__main__":
    main()
