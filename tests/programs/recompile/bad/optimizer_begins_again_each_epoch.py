# source: google-deepmind/optax#577
# blind: sixteenth

"""Fine-tune a text classifier; the learning rate falls by hand after each epoch."""

import argparse

import jax
import jax.numpy as jnp
import numpy as np
import optax


def init_params(key, vocab, dim, classes):
    k1, k2, k3 = jax.random.split(key, 3)
    return {
        "embed": jax.random.normal(k1, (vocab, dim)) * 0.02,
        "hidden": jax.random.normal(k2, (dim, dim)) / jnp.sqrt(dim),
        "out": jax.random.normal(k3, (dim, classes)) / jnp.sqrt(dim),
    }


def forward(params, tokens):
    h = params["embed"][tokens].mean(axis=1)
    h = jnp.tanh(h @ params["hidden"])
    return h @ params["out"]


def loss_fn(params, tokens, labels):
    logits = forward(params, tokens)
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()


@jax.jit
def grads_and_loss(params, tokens, labels):
    return jax.value_and_grad(loss_fn)(params, tokens, labels)


def train(args, data):
    tokens, labels = data
    params = init_params(jax.random.PRNGKey(args.seed), args.vocab, args.dim, args.classes)
    for epoch in range(args.epochs):
        lr = args.lr * args.decay**epoch
        optimizer = optax.adam(lr)  # finding-also
        opt_state = optimizer.init(params)  # finding
        perm = np.random.default_rng(epoch).permutation(len(tokens))
        total = 0.0
        for i in range(0, len(perm), args.batch):
            idx = perm[i : i + args.batch]
            loss, grads = grads_and_loss(params, tokens[idx], labels[idx])
            updates, opt_state = optimizer.update(grads, opt_state, params)
            params = optax.apply_updates(params, updates)
            total = total + loss
        print(f"epoch {epoch} lr {lr:.5f} loss {total / (len(perm) // args.batch):.4f}")
    return params


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--decay", type=float, default=0.9)
    parser.add_argument("--vocab", type=int, default=1000)
    parser.add_argument("--dim", type=int, default=64)
    parser.add_argument("--classes", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    rng = np.random.default_rng(0)
    tokens = rng.integers(0, args.vocab, (1024, 20))
    labels = rng.integers(0, args.classes, (1024,))
    train(args, (tokens, labels))


if __name__ == "__main__":
    main()
