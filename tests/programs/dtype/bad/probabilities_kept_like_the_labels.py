# source: jax-ml/jax#6432
# blind: fourth

import jax
import jax.numpy as jnp


def token_loss(logits, label):
    return -jax.nn.log_softmax(logits)[label]


class Evaluator:
    def __init__(self, params, chunk):
        self.params = params
        self.chunk = chunk

    def losses(self, inputs, labels):
        """The loss of each token, a chunk at a time to save memory."""
        out = jnp.zeros_like(labels)
        n = labels.shape[0]

        def body(i, out):
            x = jax.lax.dynamic_slice_in_dim(inputs, i * self.chunk, self.chunk)
            y = jax.lax.dynamic_slice_in_dim(labels, i * self.chunk, self.chunk)
            loss = jax.vmap(token_loss)(x @ self.params, y)
            rows = i * self.chunk + jnp.arange(self.chunk)
            return out.at[rows].set(loss)  # finding

        return jax.lax.fori_loop(0, n // self.chunk, body, out)


def main():
    key = jax.random.key(0)
    inputs = jax.random.normal(key, (32, 8))
    labels = jnp.arange(32) % 5
    evaluator = Evaluator(jnp.ones((8, 5)) * jnp.arange(5.0), 8)
    print(evaluator.losses(inputs, labels).mean())


if __name__ == "__main__":
    main()
