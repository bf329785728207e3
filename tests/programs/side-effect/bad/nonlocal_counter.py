# source: jax-ml/jax#3086

import jax
import jax.numpy as jnp


def make_annealed_loss(initial, decay):
    temperature = initial

    def loss(logits, labels):
        nonlocal temperature
        temperature = temperature * decay  # finding
        scaled = logits / temperature
        picked = jnp.take_along_axis(jax.nn.log_softmax(scaled), labels[:, None], axis=1)
        return -picked.mean()

    return loss


def main():
    loss = make_annealed_loss(5.0, 0.9)
    grad = jax.jit(jax.grad(loss))
    logits = jnp.eye(3)
    labels = jnp.array([0, 1, 1])
    for _ in range(10):
        logits = logits - 0.5 * grad(logits, labels)
    print(logits)


main()
