# source: pyro-ppl/numpyro#2247

import jax
import jax.numpy as jnp


class Bar:
    """The part of tqdm that is used here."""

    def __init__(self, iterable):
        self.iterable = iterable
        self.postfix = ""

    def __iter__(self):
        return iter(self.iterable)

    def set_postfix_str(self, text):
        self.postfix = text


@jax.jit
def svi_update(state, data):
    mean, log_std = state

    def elbo(m, s):
        return jnp.mean((data - m) ** 2) / jnp.exp(2 * s) + s

    loss, grads = jax.value_and_grad(elbo, argnums=(0, 1))(mean, log_std)
    return (mean - 0.01 * grads[0], log_std - 0.01 * grads[1]), loss


def run(data, num_steps):
    state = (jnp.float32(0.0), jnp.float32(0.0))
    losses = []
    pbar = Bar(range(num_steps))
    for _ in pbar:
        state, loss = svi_update(state, data)
        losses.append(loss)
        pbar.set_postfix_str(f"loss: {loss:.4f}")  # finding
    return state, jnp.stack(losses)


if __name__ == "__main__":
    print(run(jnp.arange(10.0), 30)[0])
