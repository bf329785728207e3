# source: jax-ml/jax#8068
# blind: second

import jax
import jax.numpy as jnp


def padding_mask(lengths, size):
    return jnp.arange(size)[None, :] < lengths[:, None]


def split_scores(scores, mask):
    kept = jnp.where(mask, scores, 0.0)
    dropped = jnp.where(-mask, scores, 0.0)  # finding
    return kept.sum(-1), dropped.sum(-1)


class Router:
    def __init__(self, weights):
        self.weights = weights

    def __call__(self, x, lengths):
        scores = x @ self.weights
        return split_scores(scores, padding_mask(lengths, scores.shape[-1]))


@jax.jit
def balance(weights, x, lengths):
    kept, dropped = Router(weights)(x, lengths)
    return jnp.mean(jnp.abs(kept) - jnp.abs(dropped))


def main():
    x = jax.random.normal(jax.random.key(0), (4, 6))
    print(balance(jnp.ones((6, 5)), x, jnp.array([5, 3, 1, 0])))


if __name__ == "__main__":
    main()
